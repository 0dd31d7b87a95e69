// Removes folders that are built anew, so that a file that is gone from the source is gone from the build.
import { rmSync } from "node:fs";

for (const folder of process.argv.slice(2)) {
  rmSync(new URL(`../${folder}`, import.meta.url), { recursive: true, force: true });
}
