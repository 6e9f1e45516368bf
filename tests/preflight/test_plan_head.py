"""A plan against HEAD: what is gone is found, prose and intentions raise no alarm."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from runherd.preflight.plan_head import PlanFinding, Repository, plan_against_head

FILES = {
    "src/agent/loop.py": """
from dataclasses import dataclass
import torch

@dataclass
class Segment:
    start: float
    end: float
    frames: int = 5

    def summary(self, prompt, *, max_words=40):
        self.cached = prompt

class Agent(Segment):
    def watch(self, frames, num_frames=5):
        return frames

    @staticmethod
    def helper(a, b):
        return a

class Net(torch.nn.Module):
    def forward(self, x):
        return x

def run_all(path, **options):
    return path
""",
    "src/agent/config.py": "FPS = 1\n\ndef load(path, strict=False):\n    return path\n",
    "src/vlm/claude.py": "class Claude:\n    def ask(self, text):\n        return text\n",
    "configs/e0.yaml": "x: 1\n",
    "docs/notes.md": "x\n",
}


def git(repo: Path, *args: str) -> str:
    command = ["git", "-C", str(repo), "-c", "user.name=x", "-c", "user.email=x@x", *args]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which memory.py was deleted and Agent.observe renamed to watch."""
    root = tmp_path_factory.mktemp("repo") / "r é 'x'"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            text.replace("def watch(", "def observe(").replace(
                "def run_all", "def dedup(x): pass\n\ndef run_all"
            )
        )
    (root / "src/agent/memory.py").write_text("def recall(x): pass\n")
    (root / "plan.md").write_text("plan\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    (root / "src/agent/memory.py").unlink()
    (root / "src/agent/loop.py").write_text(FILES["src/agent/loop.py"])
    git(root, "commit", "-qam", "rename observe, drop memory")
    return root


def findings(repo: Path, text: str) -> list[PlanFinding]:
    return plan_against_head(text, repo)


def test_a_deleted_file_and_a_renamed_method_are_both_found(repo: Path) -> None:
    """Both are told with their line in the plan, the commit that removed them, and the nearest name."""
    plan = (
        "# Plan\n\nPhase A changes `src/agent/memory.py` so that recall is cached.\n\n"
        "Then `Agent.observe(frames, num_frames)` gets the new sampler and/or a train/eval switch.\n"
    )
    found = findings(repo, plan)
    assert [(f.kind, f.line) for f in found] == [("missing-file", 3), ("missing-symbol", 5)]
    assert "rename observe, drop memory" in found[0].message
    assert "class `Agent` (src/agent/loop.py:" in found[1].message
    assert "rename observe" in str(found[1].hint)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("edit src/agent/memory.py first", "missing-file"),
        ("`memory.py` holds the cache", "missing-file"),
        ("`agent/memory.py` holds it", "missing-file"),
        ("```bash\npython src/agent/memory.py --x\n```", "missing-file"),
        ("[the code](src/agent/memory.py)", "missing-file"),
        ("`configs/e9.yaml` is the baseline", "missing-file"),
        ("call `dedup(x)` before", "missing-symbol"),
        ("`def dedup(x)` stays", "missing-symbol"),
        ("`observe()` in `src/agent/loop.py`", "missing-symbol"),
        ("`src/agent/loop.py::Agent.observe`", "missing-symbol"),
        ("`src/agent/config.py:save()`", "missing-symbol"),
        ("`Segment.endd` is read", "missing-symbol"),
        ("`Agent.watch(frames, n)`", "parameters"),
        ("`Agent.watch(frames, 1, 2)`", "parameters"),
        ("`watch(frames, num_frame=3)`", "parameters"),
        ("`def load(path, strict, cache)`", "parameters"),
        ("`Segment(start, end, frames, label)`", "parameters"),
        ("`Agent.helper(a, b, c)`", "parameters"),
        ("`seg.summary(p, max_word=3)` and `summary(prompt, max_word=3)`", "parameters"),
        ("`class Agnt`", None),
        ("`class Claude` and `Claude.tell`", "missing-symbol"),
    ],
)
def test_what_is_a_claim(repo: Path, text: str, kind: str | None) -> None:
    """Files, functions, methods, classes and parameters that the code does not have."""
    assert [f.kind for f in findings(repo, text)] == ([kind] if kind else [])


@pytest.mark.parametrize(
    "text",
    [
        "and/or, w/o, 1/2, train/eval, GPT-4o/4o-mini, v1.2/v1.3, M3/B1, n/a, TCP/IP, yes/no.md",
        "see e.g. https://example.org/src/agent/memory.py and http://x.y/z.py",
        "Create `src/agent/new_cache.py` with the cache.",
        "We add a new file `src/agent/cache.py`, and write the results to `results/e1.json`.",
        "output: experiments/ovo/e1.json, logs/x.txt",
        "python x --out src/agent/out.json > src/agent/out.txt",
        "delete `src/agent/memory.py`",
        "`src/*/memory.py`, `src/{a,b}/x.py`, `src/<name>.py`, `$DIR/x.py`, `/data/x.json`, `~/x.py`",
        "`configs/exp_XXX.yaml` and `path/to/your_script.py`",
        "`loop.py`/`config.py`, `loop.py/config.py`, `agent/loop.py`, `vlm/claude.py`, `./docs/notes.md`",
        "`torch.cat()`, `np.mean(x)`, `print(x)`, `len()`, `self.foo()`, `observe`, `num_frames`, `x.y`",
        "`Segment.cached`, `Segment.start`, `Agent.summary(prompt)`, `Agent.start`, `Net.train()`, `Net(3)`",
        "`Agent.watch(frames, num_frames=3)`, `watch(self, frames)`, `Agent.watch(x)`, `Agent.watch(...)`",
        "`run_all(path, anything=1)`, `load(p)`, `load('a', strict=True)`, `Segment(0, 1)`, `FPS`",
        "`src/agent/config.py:load()`, `src/agent/config.py::FPS`, `load()` in `src/agent/config.py`",
        "Add a method `Agent.rewind(steps)` and a function `prune()` to it.",
        "```python\ndef dedup(x):\n    return Agent.observe(x)\n```",
        "acc. 0.62/0.61 (E0.yaml/E0-rerun), see Fig.3/Tab.4, approx.py is not a word",
        "The model.generate/json mode; config.json-like objects; a.b.c/d.e",
        "`pip install foo.py` is no file; README.md-style",
    ],
)
def test_no_false_alarm(repo: Path, text: str) -> None:
    """Prose, addresses, place holders, intentions, other libraries and what exists are left alone."""
    assert findings(repo, text) == []


def test_without_git(tmp_path: Path) -> None:
    """A folder that is no repository is compared by its files alone."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("def f(x): pass\n")
    found = findings(tmp_path, "`src/b.py` and `f(x, y)` and `src/a.py`")
    assert [f.kind for f in found] == ["missing-file", "parameters"]


def test_commits_since_the_plan(repo: Path) -> None:
    """The commits after the plan's last change are listed, newest first."""
    commits = Repository(repo).commits_since("plan.md")
    assert [line.split(" ", 1)[1] for line in commits] == ["rename observe, drop memory"]
    assert Repository(repo).commits_since("none.md") == []
