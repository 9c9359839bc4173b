#!/usr/bin/env node
// Starts the binary of the package for this platform, and ends as it ends.
"use strict";

const { spawnSync } = require("node:child_process");

const name = `@rowrace/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "rowrace.exe" : "rowrace";

function binary() {
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    console.error(
      `rowrace: the package ${name} is not installed. ` +
        "Either there is no binary for this platform, or optional dependencies were left out (`npm install --omit=optional`).",
    );
    process.exit(2);
  }
}

const run = spawnSync(binary(), process.argv.slice(2), { stdio: "inherit" });
if (run.error) {
  console.error(`rowrace: ${run.error.message}`);
  process.exit(2);
}
if (run.signal) {
  // The caller sees the same signal, as if there were no Node.js in between.
  process.kill(process.pid, run.signal);
}
process.exit(run.status ?? 2);
