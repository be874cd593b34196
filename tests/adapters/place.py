"""A scratch folder with a repository and a home of its own, and kontext-ls in it."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

from client import PATIENCE, Session

TOOLS = pathlib.Path(__file__).resolve().parent.parent / ".tools"
OPEN = "[companion]\nallow_write = true\nallow_external_call = true\n\n"


def programs():
    """The programs that tests/setup installed, by the name they are called by."""
    npm = TOOLS / "servers-npm" / "node_modules"
    found = {
        "mcp-server-git": TOOLS / "servers-python" / "bin" / "mcp-server-git",
        "mcp-server-time": TOOLS / "servers-python" / "bin" / "mcp-server-time",
    }
    for name in ("everything", "filesystem", "memory"):
        found[f"mcp-server-{name}"] = npm / ".bin" / f"mcp-server-{name}"
    for folder in sorted((npm / "@vscode").glob("ripgrep-*")):
        found["rg"] = folder / "bin" / "rg"
    found.setdefault("rg", npm / "@vscode" / "ripgrep")
    return found


class Place:
    """One scratch folder. Nothing of the machine's configuration has a say in it."""

    def __init__(self, server, name):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"kontext-{name}.")).resolve()
        self.work = self.folder / "work"
        self.config = self.folder / "config"
        programs_folder = self.folder / "bin"
        made = [self.work, self.config, programs_folder]
        made += [self.folder / name for name in ("home", "tmp", "run")]
        for folder in made:
            folder.mkdir(mode=0o700)
        for program, path in {**programs(), "kontext-ls": server}.items():
            (programs_folder / program).symlink_to(path)
        self.env = {
            "PATH": f"{programs_folder}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "home" / ".config"),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "TMPDIR": str(self.folder / "tmp"),
            "LC_ALL": "C.UTF-8",
            "KONTEXT_CONFIG_DIR": str(self.config),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Mei",
            "GIT_AUTHOR_EMAIL": "mei@zoo.example",
            "GIT_COMMITTER_NAME": "Mei",
            "GIT_COMMITTER_EMAIL": "mei@zoo.example",
        }
        self.git("init", "--quiet", "--initial-branch=main")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, text):
        """A file of the repository."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def configure(self, text):
        """The personal configuration, with both gates open."""
        (self.config / "config.toml").write_text(OPEN + text, encoding="utf-8")

    def run(self, *command):
        """Runs a program in the repository."""
        return subprocess.run(
            command,
            cwd=self.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )

    def git(self, *arguments):
        done = self.run("git", *arguments)
        if done.returncode != 0:
            raise RuntimeError(f"git {shlex.join(arguments)}: {done.stderr}")

    def json(self, *arguments):
        """`kontext-ls ARGUMENTS --json`: its exit code and its answer."""
        done = self.run("kontext-ls", *arguments, "--json")
        try:
            return done.returncode, json.loads(done.stdout)
        except json.JSONDecodeError:
            said = done.stdout + done.stderr
            raise RuntimeError(f"{shlex.join(arguments)} printed no JSON: {said}") from None

    def inspect(self, adapter):
        return self.json("adapters", "inspect", adapter)

    def test(self, adapter, *arguments):
        """`adapters test` of one adapter: the exit code, and its ops by name."""
        code, report = self.json("adapters", "test", adapter, *arguments)
        return code, {op["op"]: op for op in report["adapters"][0]["ops"]}

    def agent(self):
        """An agent's session, as it is configured in one."""
        return Session(["kontext-ls", "mcp"], self.env, self.work)

    def direct(self, *command):
        """A session with a server itself, to compare with."""
        return Session(list(command), self.env, self.work, patient=False)
