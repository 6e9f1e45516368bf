"""Command templates: whatever a value holds, it reaches the program as one literal argument."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runherd.config.template import render_argument, render_shell, render_text
from runherd.errors import UserError

#: A command that prints its arguments: \\2 before each call, \\1 after each argument.
ARGS = "show_args"
DEFINED = "show_args() { printf '\\2'; [ $# -eq 0 ] || printf '%s\\1' \"$@\"; }\n"
HOSTILE = [
    '$(touch pwned); "x',
    "`touch pwned`",
    "'; touch pwned; '",
    "\\'; touch pwned #",
    "a\nEOF\ntouch pwned",
    "${IFS}touch${IFS}pwned",
    "-rf --x",
    "",
    "a b\t*?[x]{1,2}~ é 实验",
    "{{ seed }} {% raw %}",
    "x'\"'\"'y\\",
    "!! !$ #c",
    "))) ; touch pwned",
]


def arguments(command: str, folder: Path) -> list[list[str]]:
    """Run shell text in a folder; the argument lists that its programs saw."""
    done = subprocess.run(
        ["/bin/bash", "-c", DEFINED + command], cwd=folder, capture_output=True, check=False
    )
    assert not list(folder.glob("*pwned*")), f"injected by: {command}"
    return [call.split("\1")[:-1] for call in done.stdout.decode().split("\2")[1:]]


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_are_one_argument(value: str, tmp_path: Path) -> None:
    """A value with shell syntax in it arrives as it is, in every place where it is accepted."""
    names = {"x": value, "row": {"System / Variant": value}, "items": [value, "b"]}
    template = (
        f"{ARGS} a {{{{ x }}}} --k={{{{ x }}}} {{{{ row['System / Variant'] }}}} {{{{ items | each }}}} z"
        f"\n{ARGS} $(echo one) {{{{ x }}}} 'in quotes' \"$HOME\" && {ARGS} ({{{{ x }}}}"
    ).rsplit(" && ", 1)[0]
    seen = arguments(render_shell(template, names, "x:1"), tmp_path)
    assert seen[0] == ["a", value, f"--k={value}", value, value, "b", "z"]
    assert seen[1][:2] == ["one", value]


PLACES = [
    "; a=({{ x }})",
    "; [[ {{ x }} -eq 1 ]]",
    "; (( {{ x }} ))",
    "$[ {{ x }} ]",
    "; eval {{ x }}",
    "; let {{ x }}",
    "\\\n# {{ x }}",
    "<<EOF\nb\\\nEOF\n{{ x }}\nEOF",
    "<<A <<B\nA\n{{ x }}\nB",
    '"{{ x }}"',
    "'{{ x }}'",
    "`echo {{ x }}`",
    '"a $(echo "{{ x }}")"',
    "# {{ x }}",
    "$(( {{ x }} ))",
    "${HOME:-{{ x }}}",
    "\\{{ x }}",
    "${{ x }}",
    "$'{{ x }}'",
    "<<EOF\n{{ x }}\nEOF",
    "<<'EOF'\n{{ x }}\nEOF",
    "<<-EOF\n\tq\n\t{{ x }}\n\tEOF",
    'bash -c "echo {{ x }}"',
    "<<{{ x }}\nb\n",
    '"a\\"{{ x }}"',
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", ["1", HOSTILE[0]])
def test_places_where_quoting_cannot_help_are_refused(place: str, value: str) -> None:
    """Inside quotes, comments, here-documents and so on an expression is refused, whatever its value."""
    with pytest.raises(UserError) as caught:
        render_shell(f"echo a {place}", {"x": value}, "configs/runs/R001.yaml:3")
    problem = caught.value.problems[0]
    assert problem.where == "configs/runs/R001.yaml:3"
    assert "one literal argument" in problem.what
    assert value == "1" or value not in str(problem)


PIECES = [
    "echo a",
    " ",
    '"',
    "'",
    "`",
    "$(",
    ")",
    "(",
    "$((",
    "))",
    "${",
    "}",
    "\\",
    "#",
    "\n",
    "<<E\n",
    "E\n",
    ";",
    "a",
    "$",
    "=",
    "&&",
    "x#",
    "<<<",
    "$'",
    "[",
    "case a in a) ",
    ";; esac",
    "{ ",
    "; }",
]


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(PIECES), max_size=7),
    st.lists(st.sampled_from(PIECES), max_size=4),
    st.sampled_from(HOSTILE),
)
@example(["echo a", " ", "$(", "echo a", " "], [")"], HOSTILE[0])
@example(["case a in a) ", "echo a", " "], [";; esac"], HOSTILE[12])
def test_no_template_lets_a_value_run(
    tmp_path_factory: Any, before: list[str], after: list[str], value: str
) -> None:
    """Whatever text stands around an accepted expression, the value is never executed."""
    template = "".join(before) + "{{ x }}" + "".join(after)
    try:
        command = render_shell(template, {"x": value}, "x")
    except UserError:
        return
    arguments(command, tmp_path_factory.mktemp("t"))


@pytest.mark.parametrize("template", ["a=(;; {{ x }}", "if true; then {{ x }}", "echo )"])
def test_broken_shell_text_is_refused(template: str) -> None:
    """What the shell itself does not understand is told before launch, with the place of the command."""
    with pytest.raises(UserError, match=r"x\.yaml:4: the command is no valid shell text"):
        render_shell(template, {"x": "1"}, "x.yaml:4")
    assert render_shell("echo )", {}, "x", interpreter="/no/such/shell") == "echo )"


@pytest.mark.parametrize(
    "template",
    [
        "cat <<'E' && ARGS {{ x }}\nit's \"odd\nE\nARGS {{ x }}",
        "cat <<E\na \\\nE\nE\nARGS {{ x }}",
        "case a in a) ARGS {{ x }};; esac; ARGS {{ x }}",
        "(cd . && ARGS {{ x }}) | cat; { ARGS {{ x }}; }",
        'A=$((1+1)) B=${HOME:-x} C=`echo a` D="$(echo "q")" ARGS {{ x }}',
        "[ -n {{ x }} ] && ARGS {{ x }} # it's a comment\nARGS {{ x }}",
        "for i in 1 2; do ARGS {{ x }}; done\nF={{ x }} ARGS {{ x }} 2>&1",
        "ARGS a\\ b {{ x }} $'it\\'s' {{ x }} \"a \\\" b\" {{ x }}",
    ],
)
@pytest.mark.parametrize("value", HOSTILE)
def test_ordinary_shell_works(template: str, value: str, tmp_path: Path) -> None:
    """Here-documents, cases, subshells and loops around expressions are accepted, and values stay whole."""
    seen = arguments(render_shell(template.replace("ARGS", ARGS), {"x": value}, "x"), tmp_path)
    if value:
        assert seen
    assert all(value in found for found in seen)


def test_branches_are_judged_by_what_really_results(tmp_path: Path) -> None:
    """A quote opened in one branch only is seen for what it is."""
    template = '{% if a %}echo "{% else %}' + ARGS + ' {% endif %}{{ x }}{% if a %}"{% endif %}'
    assert arguments(render_shell(template, {"a": False, "x": "$(touch pwned)"}, "x"), tmp_path) == [
        ["$(touch pwned)"]
    ]
    with pytest.raises(UserError):
        render_shell(template, {"a": True, "x": "1"}, "x")


def test_raw_is_the_authors_choice(tmp_path: Path) -> None:
    """`| raw` puts text in as it is, also inside quotes; it does not pass through other filters."""
    assert render_shell('echo "{{ x | raw }}"', {"x": "a b"}, "x") == 'echo "a b"'
    assert render_shell("{{ x | raw }} {{ (x | raw) ~ '!' }}", {"x": "a b"}, "x") == "a b 'a b!'"
    # What raw text opens counts for what follows.
    with pytest.raises(UserError):
        render_shell("echo {{ q | raw }}{{ x }}", {"q": '"', "x": "1"}, "x")


@pytest.mark.parametrize(
    ("template", "result"),
    [
        ("{{ params.lr }}", "0.001"),
        ("{{ params.flag }}", "true"),
        ("{{ params.layers }}", "'[1, 2]'"),
        ("{{ params.layers | each }}", "1 2"),
        ("{{ params.layers | join('-') }}", "1-2"),
        ("{% for l in params.layers %}-l {{ l }} {% endfor %}", "-l 1 -l 2 "),
        ("{% if resume %}--resume {{ ckpt }}{% endif %}", ""),
        ("{% set y = params.lr * 2 %}{{ y }}", "0.002"),
        ("{{ 'a' if resume else 'b c' }}", "'b c'"),
        ("a{{ ' --resume' if resume }}", "a"),
        ("{{ params.missing | default('d') }}", "d"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ("{# note #}a", "a"),
    ],
)
def test_values(template: str, result: str) -> None:
    """Numbers, flags, lists, loops and conditions render as a command needs them."""
    params = {"lr": 0.001, "flag": True, "layers": [1, 2]}
    assert render_shell(template, {"params": params, "resume": False, "ckpt": "c"}, "x") == result


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ sed }}", ["uses `sed`,", "allowed: limit, nul, params, row, seed", "did you mean `seed`?"]),
        ("{{ params.lrr }}", ["uses `params.lrr`,", "allowed: params.lr\n", "did you mean `params.lr`?"]),
        ("{{ lr }}", ["uses `lr`,", "did you mean `params.lr`?"]),
        ("{{ row['Data'] }}", ['uses `row.Data`,', 'did you mean `row["Data set"]`?']),
        ("{% if params.x %}a{% endif %}", ["uses `params.x`,", "write it under `params:`"]),
        ("{{ limit.x }}", ["asks for `x` of `limit`, which has no value (null)"]),
        ("{{ seed.x + 1 }}", ["asks for `x` of `seed`, which has the value 1"]),
        ("{{ limit }}", ["no value (null): limit", "is not none"]),
        ("{{ seed", ["template is wrong"]),
        ("a\n{% if %}", ["line 2"]),
        ("{{ seed + 'a' }}", ["the template fails"]),
        ("{% macro m() %}{% endmacro %}", ["no place in a command"]),
        ("{% filter upper %}{{ seed }}{% endfilter %}", ["no place in a command"]),
        ("{% include 'x' %}", ["no place in a command"]),
        ("{{ ''.__class__.__mro__ }}", ["unsafe"]),
        ("{{ nul }}", ["NUL"]),
        ("{{ seed | each }}", ["`each` takes a list"]),
        ("{{ seed | nofilter }}", ["nofilter"]),
    ],
)
def test_mistakes_are_located(template: str, words: list[str]) -> None:
    """Every mistake in a template names the file and line of the command."""
    names = {"seed": 1, "limit": None, "params": {"lr": 1}, "nul": "a\0b", "row": {"Data set": "x"}}
    with pytest.raises(UserError) as caught:
        render_shell(template, names, "configs/runs/R001.yaml:9")
    text = str(caught.value)
    assert text.startswith("configs/runs/R001.yaml:9: ")
    assert all(word in text for word in words), text
    assert "dict object" not in text and "is undefined" not in text, "the template engine's own words"


@pytest.mark.parametrize("value", HOSTILE)
def test_list_elements_need_no_quoting(value: str) -> None:
    """An element of a list command is one argument; an empty condition and `each` are exceptions by choice."""
    assert render_argument("--x={{ v }}", {"v": value}, "x") == [f"--x={value}"]
    assert render_argument("{{ v }}", {"v": value}, "x") == [value]
    assert render_argument("{% if r %}--resume{% endif %}", {"r": False}, "x") == []
    assert render_argument("{{ v | each }}", {"v": [value, 1]}, "x") == [value, "1"]


def test_text_is_not_quoted() -> None:
    """Path templates give plain text."""
    assert render_text("{{ a }}/x y.json", {"a": "d 'q'"}, "x") == "d 'q'/x y.json"
