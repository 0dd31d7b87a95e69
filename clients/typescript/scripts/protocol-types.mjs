// The contract's types as a module of this package: --write copies them, --check says when the copy is stale.
import { readFileSync, writeFileSync } from "node:fs";

const contract = new URL("../../../protocol/types.ts", import.meta.url);
const copy = new URL("../src/protocol.ts", import.meta.url);

const read = (url) => {
  try {
    return readFileSync(url, "utf8");
  } catch {
    return undefined;
  }
};
const wanted = readFileSync(contract, "utf8");

if (process.argv[2] === "--write") {
  writeFileSync(copy, wanted);
} else if (read(copy) !== wanted) {
  console.error("src/protocol.ts is not protocol/types.ts any more; run: npm run protocol");
  process.exitCode = 1;
}
