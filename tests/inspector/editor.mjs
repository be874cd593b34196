// The least editor: a client of the language server that opens a document and types into it.

import { spawn } from "node:child_process";

const PATIENCE = 20_000;

export class Editor {
  #child;
  #buffer = Buffer.alloc(0);
  #next = 1;
  #replies = new Map();
  #published = [];
  #waiting = [];
  #ended;
  #errors = "";

  constructor(server, options) {
    this.#child = spawn(server, [], { ...options, stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stdout.on("data", (chunk) => this.#take(chunk));
    this.#child.stderr.setEncoding("utf8").on("data", (text) => (this.#errors += text));
    this.#child.stdin.on("error", () => {}); // a server that is gone shows in what is waited for
    this.#ended = new Promise((resolve) => {
      this.#child.on("error", (fault) => {
        this.#errors += fault;
        resolve(null);
      });
      this.#child.on("exit", resolve);
    });
  }

  async initialize(rootUri) {
    const capabilities = {
      general: { positionEncodings: ["utf-16"] },
      textDocument: { publishDiagnostics: { versionSupport: true } },
    };
    const workspaceFolders = [{ uri: rootUri, name: "work" }];
    const result = await this.#request("initialize", { processId: process.pid, rootUri, workspaceFolders, capabilities });
    this.#notify("initialized", {});
    return result;
  }

  open(uri, text, version) {
    this.#notify("textDocument/didOpen", { textDocument: { uri, languageId: "toml", version, text } });
  }

  change(uri, version, range, text) {
    this.#notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ range, text }] });
  }

  /** The diagnostics that were published for this version, as soon as they are. */
  diagnostics(uri, version) {
    const found = () => this.#published.findLast((one) => one.uri === uri && one.version === version)?.diagnostics;
    return this.#patiently(`diagnostics of version ${version}`, (done) => {
      const look = () => {
        const diagnostics = found();
        if (diagnostics) done(diagnostics);
        return Boolean(diagnostics);
      };
      if (!look()) this.#waiting.push(look);
    });
  }

  /** Ends the session as an editor does; the exit code. */
  async quit() {
    await this.#request("shutdown");
    this.#notify("exit");
    return this.#patiently("the end of the server", (done) => this.#ended.then(done));
  }

  kill() {
    this.#child.kill("SIGKILL");
  }

  #patiently(what, wait) {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`waited in vain for ${what}; standard error: ${this.#errors}`));
      const limit = setTimeout(fail, PATIENCE);
      wait((value) => {
        clearTimeout(limit);
        resolve(value);
      });
    });
  }

  #send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.#child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#child.stdin.write(body);
  }

  #notify(method, params) {
    this.#send({ method, params });
  }

  #request(method, params) {
    const id = this.#next++;
    const reply = this.#patiently(`the reply to ${method}`, (done) => this.#replies.set(id, done));
    this.#send({ id, method, params });
    return reply.then((message) => {
      if (message.error) throw new Error(`${method}: ${message.error.message}`);
      return message.result;
    });
  }

  #take(chunk) {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const end = this.#buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(this.#buffer.toString("latin1", 0, end))?.[1]);
      if (this.#buffer.length < end + 4 + length) return;
      const message = JSON.parse(this.#buffer.toString("utf8", end + 4, end + 4 + length));
      this.#buffer = this.#buffer.subarray(end + 4 + length);
      this.#dispatch(message);
    }
  }

  #dispatch(message) {
    if (message.method === undefined) {
      this.#replies.get(message.id)?.(message);
      this.#replies.delete(message.id);
    } else if (message.id !== undefined) {
      this.#send({ id: message.id, result: null });
    } else if (message.method === "textDocument/publishDiagnostics") {
      this.#published.push(message.params);
      this.#waiting = this.#waiting.filter((look) => !look());
    }
  }
}
