/** Drive an rpc-agent server from Node. The protocol's own types are exported too, by their names in the contract. */

export { Client, type CloseLimits, DEFAULT_COMMAND, type OpenOptions } from "./client.js";
export { ANY, type Call, type HandlerContext, type OnError, type OnTraffic, type RequestOptions } from "./connection.js";
export {
  CannotStart,
  ClientError,
  ConnectionClosed,
  FellBehind,
  MessageTooLarge,
  ProtocolViolation,
  type Reason,
  RequestTimedOut,
  RpcError,
  ServerExited,
} from "./errors.js";
export type { FramingName } from "./framing.js";
export type { Notification, NotificationName } from "./messages.js";
export type { HandshakeParams, MethodName, Params, Result } from "./methods.js";
export type { Subscription, SubscriptionOptions } from "./subscription.js";
export * from "./protocol.js";
