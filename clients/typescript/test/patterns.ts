/** Whether a message fits a pattern of protocol/examples; the words are told in its README. Speaks to no server. */

type Known = ReadonlyMap<string, string>;

const TYPES: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: isObject,
};

/** `value` with what was remembered in the place of "<string:name>". */
export function filled(value: unknown, known: Known): unknown {
  if (Array.isArray(value)) return value.map((each) => filled(each, known));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, known)]));
  const name = typeof value === "string" ? /^<string:(.+)>$/s.exec(value)?.[1] : undefined;
  return name === undefined ? value : known.get(name);
}

/** What is remembered after `value` fitted `pattern`, or undefined when it does not fit. */
export function fits(pattern: unknown, value: unknown, known: Known): Known | undefined {
  if (Array.isArray(pattern)) return Array.isArray(value) ? arrayFits(pattern, value, known) : undefined;
  if (isObject(pattern)) return isObject(value) ? objectFits(pattern, value, known) : undefined;
  const word = typeof pattern === "string" ? /^<(\w+)(?::(.*))?>$/s.exec(pattern) : null;
  if (word !== null) return wordFits(word[1] as string, word[2] ?? "", value, known);
  return pattern === value ? known : undefined;
}

function objectFits(pattern: Record<string, unknown>, value: Record<string, unknown>, known: Known): Known | undefined {
  let now: Known | undefined = known;
  for (const [key, each] of Object.entries(pattern)) now &&= fits(each, value[key], now);
  return now;
}

function arrayFits(pattern: unknown[], value: unknown[], known: Known): Known | undefined {
  if (pattern[0] === "<in any order>") return anyOrderFits(pattern.slice(1), value, known);
  const isOpen = pattern.at(-1) === "<rest>";
  const items = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? value.length < items.length : value.length !== items.length) return undefined;
  let now: Known | undefined = known;
  items.forEach((each, i) => (now &&= fits(each, value[i], now)));
  return now;
}

function anyOrderFits(patterns: unknown[], values: unknown[], known: Known): Known | undefined {
  if (patterns.length !== values.length) return undefined;
  if (patterns.length === 0) return known;
  for (const i of values.keys()) {
    const now = fits(patterns[0], values[i], known);
    const rest = now && anyOrderFits(patterns.slice(1), values.toSpliced(i, 1), now);
    if (rest) return rest;
  }
  return undefined;
}

function wordFits(kind: string, rest: string, value: unknown, known: Known): Known | undefined {
  if (kind === "absent") return value === undefined ? known : undefined;
  if (value === undefined) return undefined;
  if (kind === "any") return known;
  if (kind === "contains") {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.includes(rest) ? known : undefined;
  }
  if (!TYPES[kind]?.(value)) return undefined;
  if (kind !== "string" || !rest) return known;
  return (known.get(rest) ?? value) === value ? new Map(known).set(rest, value as string) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
