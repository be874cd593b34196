// The MCP Inspector against the real binary: node tests/inspector/run.mjs PATH-OF-KONTEXT-LS
//
// Every question goes through the Inspector's command line, which starts `kontext-ls mcp` as an
// agent would. First without an editor, then with a language server that has an unsaved edit.

import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Editor } from "./editor.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const inspector = path.join(here, "..", ".tools", "node", "node_modules", ".bin", "mcp-inspector");
const PATIENCE = 60_000;

if (!process.argv[2]) {
  console.error("usage: node tests/inspector/run.mjs PATH-OF-KONTEXT-LS");
  process.exit(2);
}
const server = path.resolve(process.argv[2]);
if (!fs.existsSync(inspector)) {
  console.error("tests/inspector: the Inspector is not installed: run tests/setup");
  process.exit(1);
}

let passed = 0;
let failed = 0;

function ok(what, holds, seen) {
  if (holds) {
    passed += 1;
    console.log(`ok ${what}`);
  } else {
    failed += 1;
    console.log(`not ok ${what}`);
    if (seen !== undefined) console.log(`    seen: ${JSON.stringify(seen)?.slice(0, 1500)}`);
  }
  return holds;
}

/** A part of the test; an error in it is a failed check, and the next part runs all the same. */
async function part(name, run) {
  console.log(`# ${name}`);
  try {
    await run();
  } catch (fault) {
    ok(`${name} runs to its end`, false, String(fault?.stack ?? fault));
  }
}

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "kontext-mcp.")));
process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const place = (...parts) => path.join(scratch, ...parts);
const write = (file, text) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};

const environment = {
  PATH: process.env.PATH,
  HOME: place("home"),
  XDG_CONFIG_HOME: place("home", ".config"),
  XDG_CACHE_HOME: place("home", ".cache"),
  XDG_DATA_HOME: place("home", ".local", "share"),
  XDG_STATE_HOME: place("home", ".local", "state"),
  XDG_RUNTIME_DIR: place("run"),
  TMPDIR: place("tmp"),
  KONTEXT_CONFIG_DIR: place("config"),
};
for (const folder of Object.values(environment).slice(1)) fs.mkdirSync(folder, { recursive: true, mode: 0o700 });

// A repository as git lays it out, without git.
const work = place("work");
for (const folder of ["objects/info", "objects/pack", "refs/heads"]) {
  fs.mkdirSync(path.join(work, ".git", folder), { recursive: true });
}
write(path.join(work, ".git", "HEAD"), "ref: refs/heads/main\n");
write(
  path.join(work, ".git", "config"),
  '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = git@example.org:zoo/pens.git\n',
);

const layer = path.join(work, ".git", "kontext", "config.toml");
const SAVED = `[adapters.notes]
driver = "http"
base_url = "http://127.0.0.1:9"
when = { env = "PANDA_TOKEN" }

[adapters.notes.ops.search]
path = "/search"
query = { q = "{{query}}" }
`;
const TYPO = '[adapters.x]\ndriver = "command"\ncommand = ["true"]\nweigth = 1\n';
write(layer, SAVED);

// The Inspector is told of the server as its users tell it.
const settings = place("mcp.json");
write(settings, JSON.stringify({ mcpServers: { kontext: { command: server, args: ["mcp", "--dir", work] } } }));

/** One run of the Inspector: `{ code, answer, text }`. */
function inspect(...args) {
  return new Promise((resolve, reject) => {
    const cli = ["--cli", "--config", settings, "--server", "kontext", ...args];
    const child = spawn(inspector, cli, { cwd: work, env: environment, stdio: ["ignore", "pipe", "pipe"], timeout: PATIENCE });
    let out = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
    child.on("error", reject);
    child.on("close", (code) => {
      let answer;
      try {
        // It prints its child's output chunk by chunk, each with a line end of its own. No string
        // in JSON holds a raw line end, so all of them can go.
        answer = JSON.parse(out.replaceAll("\n", ""));
      } catch {
        answer = undefined;
      }
      resolve({ code, answer, text: out + errors });
    });
  });
}

async function call(tool, args = {}) {
  const pairs = Object.entries(args).flatMap(([name, value]) => ["--tool-arg", `${name}=${value}`]);
  const { answer, text } = await inspect("--method", "tools/call", "--tool-name", tool, ...pairs);
  if (answer === undefined) throw new Error(`no JSON from ${tool}: ${text}`);
  return answer;
}

/** What every good answer of a tool has: text for a reader, and the same as data. */
function answered(what, answer) {
  const text = answer.content?.filter((block) => block.type === "text").map((block) => block.text).join("\n");
  ok(`${what} has text and data`, !answer.isError && text && answer.structuredContent, answer);
  return { data: answer.structuredContent ?? {}, text: text ?? "" };
}

await part("tools/list", async () => {
  const { code, answer, text } = await inspect("--method", "tools/list");
  ok("the Inspector ends with 0", code === 0, text);
  const names = answer?.tools?.map((tool) => tool.name) ?? [];
  for (const name of ["kontext_status", "kontext_snapshot", "kontext_check", "kontext_explain"]) {
    const tool = answer?.tools?.find((one) => one.name === name);
    ok(`${name} is listed`, tool, names);
    ok(`${name} has a description and both schemas`, tool?.description && tool.inputSchema?.type === "object" && tool.outputSchema?.type === "object", tool);
    ok(`${name} is annotated as read-only`, tool?.annotations?.readOnlyHint === true, tool?.annotations);
  }
});

await part("the tools, from the disk", async () => {
  const status = answered("kontext_status", await call("kontext_status"));
  const notes = status.data.adapters?.find((adapter) => adapter.name === "notes");
  ok("the adapter is inactive", notes?.status === "inactive" && notes.driver === "http", status.data);
  ok("the reason is in the user's words", notes?.reasons?.some((reason) => reason.includes("PANDA_TOKEN")), notes);
  ok("no editor is connected", status.data.editor === false, status.data.editor);
  ok("both gates are closed", status.data.gates?.write === false && status.data.gates.external === false, status.data.gates);

  const snapshot = answered("kontext_snapshot", await call("kontext_snapshot"));
  ok("without an editor nothing is open", snapshot.data.editor === false && snapshot.data.documents?.length === 0, snapshot.data);

  const draft = answered("kontext_check of a text", await call("kontext_check", { text: TYPO }));
  const found = draft.data.diagnostics?.find((one) => one.code === "unknown-key");
  ok("the misspelt key is found", found?.severity === "error", draft.data);
  const range = { start: { line: 3, character: 0 }, end: { line: 3, character: "weigth".length } };
  ok("at its exact range", JSON.stringify(found?.range) === JSON.stringify(range), found?.range);
  ok("with a fix that spells it right", found?.fix?.edits?.some((edit) => edit.newText.includes("weight")), found);

  const file = answered("kontext_check of a file", await call("kontext_check", { path: ".git/kontext/config.toml" }));
  ok("the file on disk has no errors", file.data.diagnostics?.every((one) => one.severity !== "error"), file.data);

  const field = answered("kontext_explain of a field", await call("kontext_explain", { of: "when.env" }));
  ok("it is a field", field.data.kind === "field" && field.text.length > 20, field.data);
  const code = answered("kontext_explain of a code", await call("kontext_explain", { of: "unknown-key" }));
  ok("it is a code", code.data.kind === "code", code.data);
  const adapter = answered("kontext_explain of an adapter", await call("kontext_explain", { of: "notes" }));
  ok("it is an adapter", adapter.data.kind === "adapter", adapter.data);
  ok(
    "its values come with their layer",
    adapter.data.values?.some((value) => value.field.endsWith("base_url") && value.value === "http://127.0.0.1:9" && value.layer === "clone"),
    adapter.data.values,
  );
});

await part("what cannot be done is said", async () => {
  const { answer, text } = await inspect("--method", "tools/call", "--tool-name", "kontext_check", "--tool-arg", "pth=x");
  ok("an unknown argument is refused by name", (answer === undefined || answer.isError) && text.includes("pth"), text);
  const unknown = await inspect("--method", "resources/read", "--uri", "kontext://nothing");
  ok("an unknown resource is an error", unknown.code !== 0 && unknown.text.includes("kontext://nothing"), unknown.text);
});

await part("resources", async () => {
  const { answer, text } = await inspect("--method", "resources/list");
  const uris = answer?.resources?.map((resource) => resource.uri) ?? [];
  for (const uri of ["kontext://config/effective", "kontext://schema", "kontext://layers/clone"]) {
    ok(`${uri} is listed`, uris.includes(uri), answer ? uris : text);
  }
  const read = await inspect("--method", "resources/read", "--uri", "kontext://config/effective");
  const content = read.answer?.contents?.[0];
  ok("the effective configuration is JSON", content?.mimeType === "application/json" && JSON.parse(content.text), read.text);
  ok("and holds the adapter", content?.text.includes("notes") && content.text.includes("http://127.0.0.1:9"), content?.text);
});

const editor = new Editor(server, { cwd: work, env: environment });
const uri = pathToFileURL(layer).href;

await part("beside a language server with an unsaved edit", async () => {
  await editor.initialize(pathToFileURL(work).href);
  editor.open(uri, SAVED, 1);
  await editor.diagnostics(uri, 1);
  // A line before `when`: a misspelt key, never saved.
  const at = { line: 3, character: 0 };
  editor.change(uri, 2, { start: at, end: at }, "timeout_sm = 5 # 🐼\n");
  const shown = await editor.diagnostics(uri, 2);
  ok("the editor shows the fault", shown.some((one) => one.code === "unknown-key"), shown);

  const status = answered("kontext_status", await call("kontext_status"));
  ok("an editor is connected", status.data.editor === true, status.data);

  const snapshot = answered("kontext_snapshot", await call("kontext_snapshot"));
  ok("the editor is seen", snapshot.data.editor === true, snapshot.data);
  const document = snapshot.data.documents?.find((one) => one.path.endsWith("config.toml"));
  ok("the document is unsaved, version 2, layer clone", document?.unsaved === true && document.version === 2 && document.layer === "clone", snapshot.data);
  ok("the edit is shown", document?.changes?.some((change) => change.line === 3 && change.buffer.includes("timeout_sm = 5 # 🐼") && !change.saved.includes("timeout_sm")), document?.changes);
  const fault = document?.diagnostics?.find((one) => one.code === "unknown-key");
  ok("with its diagnostic", fault?.range.start.line === 3 && fault.range.end.character === "timeout_sm".length, document?.diagnostics);
  ok("and all of it in the text too", snapshot.text.includes("timeout_sm"), snapshot.text);

  const check = answered("kontext_check of the open file", await call("kontext_check", { path: ".git/kontext/config.toml" }));
  ok("it judges the unsaved text", check.data.diagnostics?.some((one) => one.code === "unknown-key"), check.data);
  ok("the file on disk is as it was", fs.readFileSync(layer, "utf8") === SAVED);
});

await part("after the language server", async () => {
  ok("it ends with 0", (await editor.quit()) === 0);
  const snapshot = answered("kontext_snapshot", await call("kontext_snapshot"));
  ok("nothing is open any more", snapshot.data.editor === false && snapshot.data.documents?.length === 0, snapshot.data);
  const check = answered("kontext_check of the file", await call("kontext_check", { path: ".git/kontext/config.toml" }));
  ok("the disk is what counts again", check.data.diagnostics?.every((one) => one.code !== "unknown-key"), check.data);
});

editor.kill();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
