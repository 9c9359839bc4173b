#!/usr/bin/env node
// Writes the package of one platform: `node npm/platform.mjs linux-x64 target/release/rowrace OUT`.
// The version is that of npm/rowrace/package.json.

import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [platform, binary, out] = process.argv.slice(2);
const main = JSON.parse(readFileSync(new URL("rowrace/package.json", import.meta.url), "utf8"));
const name = `@rowrace/${platform}`;
if (!out || !(name in main.optionalDependencies)) {
  const known = Object.keys(main.optionalDependencies).map((it) => it.split("/")[1]);
  console.error(`usage: platform.mjs PLATFORM BINARY OUT; PLATFORM is one of ${known.join(", ")}`);
  process.exit(2);
}

const [os, cpu] = platform.split("-");
const file = os === "win32" ? "rowrace.exe" : "rowrace";
const folder = join(out, platform);
mkdirSync(folder, { recursive: true });
copyFileSync(binary, join(folder, file));
chmodSync(join(folder, file), 0o755);
const manifest = {
  name,
  version: main.version,
  description: `The rowrace binary for ${platform}`,
  license: main.license,
  os: [os],
  cpu: [cpu],
  files: [file],
  preferUnplugged: true,
};
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
console.log(folder);
