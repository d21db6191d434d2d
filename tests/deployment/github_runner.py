"""What of GitHub the action meets: a runner that performs its steps, and the API of comments."""

import os
import re
import subprocess
from dataclasses import dataclass, field

import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")


@dataclass
class Runner:
    """Performs the steps of a composite action in order, as GitHub's runner does.

    Args:
        action: The action's file.
        temp: The runner's folder for temporary files.
        workspace: The folder in which the steps work.
        replaced: What is done in place of steps, by name.
        environment: Variables of the job.
        github: The context `github` of expressions, with dots in its keys.
    """

    action: str
    temp: object
    workspace: object
    replaced: dict = field(default_factory=dict)
    environment: dict = field(default_factory=dict)
    github: dict = field(default_factory=dict)
    most_seconds: int = 110
    log: str = ""
    summary: str = ""
    performed: list = field(default_factory=list)

    def run(self, **given):
        """Perform the action with these inputs, `_` for `-`; return its exit code and outputs."""
        action = yaml.safe_load(self.action)
        inputs = {name: each["default"] for name, each in action["inputs"].items()}
        given = {name.replace("_", "-"): value for name, value in given.items()}
        assert given.keys() <= inputs.keys()
        self.known = {f"inputs.{name}": value for name, value in {**inputs, **given}.items()}
        self.known |= {f"github.{name}": value for name, value in self.github.items()}
        self.known = {name: self.fill(value) for name, value in self.known.items()}
        code = 0
        for step in action["runs"]["steps"]:
            name = step.get("name", step.get("uses"))
            condition = step.get("if", "")
            if (code and "always()" not in condition) or not self.holds(condition):
                continue
            self.performed.append(name)
            perform = self.replaced.get(name)
            ended = self.perform(step) if perform is None else perform()
            code = code or ended or 0
        outputs = {name: self.fill(each["value"]) for name, each in action["outputs"].items()}
        return code, outputs

    def perform(self, step):
        files = {name: self.temp / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        script = self.temp / "step.sh"
        script.write_text(step["run"])
        assert step["shell"] == "bash"
        ended = subprocess.run(
            [*SHELL, str(script)],
            cwd=self.workspace,
            env={
                **self.environment,
                "PATH": os.environ["PATH"],
                "RUNNER_TEMP": str(self.temp),
                **{name: str(path) for name, path in files.items()},
                **{name: self.fill(value) for name, value in step.get("env", {}).items()},
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=self.most_seconds,
            check=False,
        )
        self.log += ended.stdout
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            name, _, value = line.partition("=")
            self.known[f"steps.{step['id']}.outputs.{name}"] = value
        return ended.returncode

    def fill(self, text):
        """Replace the expressions in a text."""
        return EXPRESSION.sub(lambda found: str(self.value(found[1])), str(text))

    def holds(self, condition):
        """Tell whether all parts of a condition hold."""
        return all(self.is_true(each.strip()) for each in condition.split("&&") if each.strip())

    def is_true(self, part):
        if part == "always()":
            return True
        left, operator, right = re.fullmatch(r"(\S+) (==|!=) (\S+)", part).groups()
        return (self.value(left) == self.value(right)) == (operator == "==")

    def value(self, expression):
        if "||" in expression:
            return next(
                filter(None, (self.value(each.strip()) for each in expression.split("||"))), ""
            )
        if expression.startswith("'"):
            return expression.strip("'")
        assert re.fullmatch(r"(inputs|github|steps)\.[\w.-]+", expression), expression
        return self.known.get(expression, "")


@dataclass
class Comments:
    """GitHub's API of the comments of one repository.

    Args:
        forbidden: Whether the token may not write.
    """

    token: str = "a-token"
    forbidden: bool = False
    login: str = "github-actions[bot]"
    kept: list = field(default_factory=list)
    requests: list = field(default_factory=list)

    def add(self, body, login):
        self.kept.append({"id": len(self.kept) + 1, "body": body, "user": {"login": login}})
        return {**self.kept[-1], "html_url": f"http://github.invalid/{len(self.kept)}"}

    def app(self):
        repository = "/repos/an-owner/an-agent/issues"
        return Starlette(
            routes=[
                Route(f"{repository}/7/comments", self.listed, methods=["GET"]),
                Route(f"{repository}/7/comments", self.created, methods=["POST"]),
                Route(f"{repository}/comments/{{id:int}}", self.changed, methods=["PATCH"]),
            ]
        )

    def refusal(self, request):
        self.requests.append(f"{request.method} {request.url.path}")
        if not self.is_known(request):
            return JSONResponse({"message": "Bad credentials"}, status_code=401)
        if self.forbidden and request.method != "GET":
            message = {"message": "Resource not accessible by integration"}
            return JSONResponse(message, status_code=403)
        return None

    def is_known(self, request):
        return request.headers["authorization"] == f"Bearer {self.token}"

    async def listed(self, request: Request):
        if refusal := self.refusal(request):
            return refusal
        size, page = int(request.query_params["per_page"]), int(request.query_params["page"])
        return JSONResponse(self.kept[(page - 1) * size : page * size])

    async def created(self, request: Request):
        body = (await request.json())["body"]
        return self.refusal(request) or JSONResponse(self.add(body, self.login), status_code=201)

    async def changed(self, request: Request):
        if refusal := self.refusal(request):
            return refusal
        comment = self.kept[request.path_params["id"] - 1]
        comment["body"] = (await request.json())["body"]
        return JSONResponse({**comment, "html_url": f"http://github.invalid/{comment['id']}"})
