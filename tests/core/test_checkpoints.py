"""Which checkpoint an attempt resumes from: damaged ones of every kind are set aside, and none of them stops the step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from runherd.lifecycle import checkpoints

OLD, NEW = 1_000_000_000, 1_000_000_100


def deflated(path: Path, spoil: bool = False) -> None:
    """A zip as torch and numpy write it; spoiled, its packed bytes are no deflate stream any more."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("archive/data.pkl", b"weights " * 500)
    if spoil:
        data = bytearray(path.read_bytes())
        at = 30 + len("archive/data.pkl")
        data[at : at + 12] = b"\xff" * 12
        path.write_bytes(bytes(data))


def tensors(path: Path, header: object, body: bytes = b"") -> None:
    """A safetensors file: 8 bytes of the header's length, the header, the tensors' bytes."""
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def whole(path: Path) -> None:
    tensors(path, {"w": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}, "__metadata__": {"a": "b"}}, b"1234")


def aged(path: Path, at: int) -> Path:
    os.utime(path, (at, at), follow_symlinks=False)
    return path


DAMAGED: dict[str, tuple[str, Callable[[Path], object]]] = {
    "noise": ("a.safetensors", lambda p: p.write_bytes(b"x" * 1000)),
    "only a length": ("a.safetensors", lambda p: p.write_bytes((64).to_bytes(8, "little"))),
    "shorter than a length": ("a.safetensors", lambda p: p.write_bytes(b"\x02")),
    "header is a list": ("a.safetensors", lambda p: tensors(p, [])),
    "no offsets": ("a.safetensors", lambda p: tensors(p, {"w": {"dtype": "U8"}})),
    "tensor is a number": ("a.safetensors", lambda p: tensors(p, {"w": 3})),
    "offsets are text": ("a.safetensors", lambda p: tensors(p, {"w": {"data_offsets": ["0", "4"]}}, b"1234")),
    "nested header": ("a.safetensors", lambda p: p.write_bytes((10**5).to_bytes(8, "little") + b"[" * 10**5)),
    "cut": ("a.safetensors", lambda p: tensors(p, {"w": {"data_offsets": [0, 4]}}, b"123")),
    "bad deflate": ("a.pt", lambda p: deflated(p, spoil=True)),
    "cut zip": ("a.ckpt", lambda p: p.write_bytes(b"PK\x03\x04 and no more")),
    "nested json": ("a.json", lambda p: p.write_bytes(b"[" * 10**5)),
    "no text": ("a.json", lambda p: p.write_bytes(b"\xff\xfe\xfa{")),
    "link to nothing": ("last.ckpt", lambda p: p.symlink_to("epoch=4.ckpt")),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_set_aside_and_the_one_before_taken(tmp_path: Path, name: str) -> None:
    """Whatever is wrong within a file, it is that file's fault with a reason, and the older good one is the newest again."""
    folder, aside = tmp_path / "ein 'Ordner'", tmp_path / "rejected" / "2"
    folder.mkdir()
    whole(folder / "good.safetensors")
    file, damage = DAMAGED[name]
    damage(folder / file)
    aged(folder / "good.safetensors", OLD)
    aged(folder / file, NEW)
    choice = checkpoints.choose(folder, aside)
    assert choice.taken == folder / "good.safetensors"
    assert [n for n, _ in choice.rejected] == [file]
    why = choice.rejected[0][1]
    assert (why.startswith("cannot be read: ") and len(why) > len("cannot be read: ")) or "of" in why, why
    assert os.path.lexists(aside / file) and not os.path.lexists(folder / file)


@pytest.mark.parametrize("name", ["a.safetensors", "a.pt", "a.json", "a.ckpt"])
def test_a_good_file_stays(tmp_path: Path, name: str) -> None:
    """A whole file of each kind is taken; so is a .ckpt that is no zip, whose form nobody here knows."""
    writes = {
        "a.safetensors": whole, "a.pt": deflated, "a.json": lambda p: p.write_text('{"step": 3}'),
        "a.ckpt": lambda p: p.write_bytes(b"\x80\x02}q\x00."),
    }  # fmt: skip
    writes[name](tmp_path / name)
    assert checkpoints.choose(tmp_path, tmp_path / "aside").taken == tmp_path / name


def test_a_pipe_in_the_folder_is_no_checkpoint(tmp_path: Path) -> None:
    """A named pipe is neither opened, which would wait for its writer, nor moved."""
    os.mkfifo(tmp_path / "control.json")
    assert checkpoints.choose(tmp_path, tmp_path / "aside") == checkpoints.Choice(None)
    assert (tmp_path / "control.json").exists()


def test_what_was_set_aside_before_is_not_overwritten(tmp_path: Path) -> None:
    """A second bad checkpoint of the same name, of a try that was repeated, lies beside the first."""
    folder, aside = tmp_path / "checkpoint", tmp_path / "aside"
    for text in ("{first", "{second"):
        (folder / "step-3").mkdir(parents=True)
        (folder / "step-3" / "state.json").write_text(text)
        checkpoints.choose(folder, aside)
    assert (aside / "step-3" / "state.json").read_text() == "{first"
    assert (aside / "step-3.1" / "state.json").read_text() == "{second"


def test_large_files_are_not_held_in_memory(tmp_path: Path) -> None:
    """A file of 256 MiB with a manifest is judged in a process that may take 128 MiB more."""
    big = tmp_path / "step-1.pt"
    with big.open("wb") as f:
        f.truncate(1 << 28)
    (tmp_path / "step-1.pt.manifest.json").write_text(json.dumps({"file": "step-1.pt", "sha256": "0" * 64}))
    program = (
        "import resource, sys; from pathlib import Path; from runherd.lifecycle import checkpoints\n"
        "have = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (have + (1 << 27),) * 2)\n"
        "print(checkpoints.fault(Path(sys.argv[1])))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(big)], capture_output=True, text=True, check=True)
    assert done.stdout == "its sha256 is not the one in step-1.pt.manifest.json\n"


def test_a_check_may_say_what_is_no_text(tmp_path: Path) -> None:
    """A declared check that fails with bytes that are no UTF-8 is heard all the same."""
    (tmp_path / "a.bin").write_bytes(b"1")
    choice = checkpoints.choose(tmp_path, tmp_path / "aside", "printf '\\377 no'; exit 3; :")
    assert choice.taken is None and "exit code 3" in choice.rejected[0][1]


def tree(folder: Path, *files: str, bad: Sequence[str] = ()) -> None:
    """Write these files, each newer than the one before; those in `bad` are cut, the others whole of their kind."""
    for i, name in enumerate(files):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in bad:
            path.write_bytes(b"PK\x03\x04 cut" if path.suffix in (".ckpt", ".pt", ".zip") else b"{ cut")
        elif path.suffix == ".safetensors":
            whole(path)
        elif path.suffix in (".ckpt", ".pt", ".zip"):
            deflated(path)
        else:
            path.write_text("{}")
        aged(path, OLD + i)
        for parent in path.relative_to(folder).parents[:-1]:
            aged(folder / parent, OLD + i)


LIGHTNING = tuple(f"version_0/checkpoints/epoch={i}.ckpt" for i in (0, 4, 8, 12))
HF = ("model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth", "trainer_state.json")
TREES: dict[str, tuple[tuple[str, ...], tuple[str, ...], str | None, tuple[str, ...]]] = {
    "lightning, last cut": ((*LIGHTNING, "version_0/metrics.csv"), LIGHTNING[3:], LIGHTNING[2], LIGHTNING[3:]),
    "lightning, two cut": ((*LIGHTNING, "version_0/hparams.yaml"), LIGHTNING[2:], LIGHTNING[1], LIGHTNING[:1:-1]),
    "lightning, none cut": (LIGHTNING, (), LIGHTNING[3], ()),
    "lightning, deeper": (
        tuple(f"lightning_logs/{n}" for n in LIGHTNING), ("lightning_logs/" + LIGHTNING[3],),
        "lightning_logs/" + LIGHTNING[2], ("lightning_logs/" + LIGHTNING[3],),
    ),
    "in a folder named by a number": (
        ("42/model_100.pt", "42/model_200.pt"), ("42/model_200.pt",), "42/model_100.pt", ("42/model_200.pt",),
    ),
    "hugging face": (
        tuple(f"checkpoint-{i}/{n}" for i in (500, 1000) for n in HF), ("checkpoint-1000/optimizer.pt",),
        "checkpoint-500", ("checkpoint-1000",),
    ),
    "hugging face, deeper": (
        tuple(f"out/run a/checkpoint-{i}/{n}" for i in (500, 1000) for n in HF), ("out/run a/checkpoint-1000/scheduler.pt",),
        "out/run a/checkpoint-500", ("out/run a/checkpoint-1000",),
    ),
    "shards with an index": (
        ("old.pt", *(f"state/model-0000{i}-of-00002.safetensors" for i in (1, 2)), "state/model.safetensors.index.json"),
        ("state/model-00001-of-00002.safetensors",), "old.pt", ("state",),
    ),
    "shards without one": (
        ("old.pt", "state/random_states_0.pt", "state/random_states_1.pt", "state/model.pt"),
        ("state/random_states_0.pt",), "old.pt", ("state",),
    ),
    "shards in folders": (
        ("old.pt", "state/mp_rank_00/model.pt", "state/mp_rank_01/model.pt"), ("state/mp_rank_00/model.pt",), "old.pt", ("state",),
    ),
    "parts": (("old.pt", *(f"state/{n}" for n in HF)), ("state/optimizer.pt",), "old.pt", ("state",)),
    "all that there is": (("version_0/ckpt/epoch=0.ckpt",), ("version_0/ckpt/epoch=0.ckpt",), None, ("version_0/ckpt",)),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_in_a_tree_what_is_one_checkpoint_is_set_aside_as_one(tmp_path: Path, name: str) -> None:
    """A bad file among states of other times goes alone, a folder of parts goes whole; each keeps its relative place."""
    files, bad, taken, gone = TREES[name]
    folder, aside = tmp_path / "checkpoint", tmp_path / "aside"
    tree(folder, *files, bad=bad)
    choice = checkpoints.choose(folder, aside)
    assert (choice.taken and str(choice.taken.relative_to(folder)), tuple(n for n, _ in choice.rejected)) == (taken, gone)
    left = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    moved = {str(p.relative_to(aside)) for p in aside.rglob("*") if p.is_file()}
    expected = {n for n in files if any(n == g or n.startswith(f"{g}/") for g in gone)}
    assert (moved, left) == (expected, set(files) - expected)


def test_no_empty_folder_is_left_to_resume_from(tmp_path: Path) -> None:
    """When every checkpoint of a tree was bad, the folders that held them are gone too, but not the place itself."""
    folder = tmp_path / "checkpoint"
    tree(folder, *LIGHTNING[:2], bad=LIGHTNING[:2])
    assert checkpoints.choose(folder, tmp_path / "aside").taken is None
    assert folder.is_dir() and not any(folder.iterdir())


def test_notes_and_links_in_a_tree_go_with_their_file(tmp_path: Path) -> None:
    """Lightning's `last.ckpt` that links to the cut one, and a manifest beside it, are set aside with it."""
    folder, aside = tmp_path / "checkpoint", tmp_path / "aside"
    tree(folder, *LIGHTNING, bad=LIGHTNING[3:])
    place = folder / "version_0" / "checkpoints"
    (place / "last.ckpt").symlink_to("epoch=12.ckpt")
    (place / "epoch=12.ckpt.sha256").write_text("0")
    assert checkpoints.choose(folder, aside).taken == folder / LIGHTNING[2]
    moved = sorted(p.name for p in (aside / "version_0" / "checkpoints").iterdir())
    assert moved == ["epoch=12.ckpt", "epoch=12.ckpt.sha256", "last.ckpt"]
