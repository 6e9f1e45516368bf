"""Which role a column has, from its header, in English, Chinese and Portuguese."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from runherd.tracker.cells import plain


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


_ALIASES: dict[str, tuple[str, ...]] = {
    "id": _words(
        "run id|runid|id|run|exp id|exp. id|expid|exp|experiment id|experiment|exp #|exp.|run #"
        "|run no|run no.|run number|#|no|no.|nr|task id|job id|job|trial|trial id|run name"
        "|experiment name|test id|case id|item id|run / id|id / run|ablation id|block id|编号"
        "|运行id|运行编号|实验编号|实验id|实验|序号|任务编号|任务id|run编号|实验号|id编号|execução"
        "|id da execução|experimento|id do experimento|id experimento|rodada|código|id da rodada"
        "|eval id|evaluation id|ablation|run / eval id|seq|实验id号"
        "|experimento nº|ejecución|corrida"
    ),
    "name": _words(
        "name|task|item|title|tarefa|nome|任务|名称|实验名称|实验名|check|work item|action|step"
        "|run / task|module"
    ),
    "stage": _words(
        "milestone|stage|phase|ms|m|milestone / block|block / milestone|stage / milestone|sprint"
        "|wave|week|里程碑|阶段|marco|fase|etapa|estágio|marco / fase|批次|group"
        "|hito"
    ),
    "purpose": _words(
        "purpose|goal|objective|hypothesis|question|description|what|rationale|aim|intent"
        "|purpose / claim|claim|tests|目的|目标|描述|内容|实验内容|objetivo|propósito|descrição"
        "|finalidade|hipótese"
        "|propósito|descripción"
    ),
    "system": _words(
        "system / variant|system|variant|method|approach|setup|arm|condition|treatment"
        "|system / method|method / variant|model / variant|model / method|setting|系统|方法|变体"
        "|设置|系统 / 变体|系统/变体|sistema|variante|método|sistema / variante"
        "|método"
    ),
    "model": _words("model|backbone|llm|base model|模型|modelo"),
    "split": _words("split|data split|dataset / split|split / dataset|划分|数据划分|数据集 / 划分|divisão"),
    "dataset": _words(
        "dataset|data|datasets|data / split|数据集|数据|conjunto|conjunto de dados|dados"
        "|conjunto de datos|datos"
    ),
    "benchmark": _words("benchmark|bench|benchmarks|基准|评测集"),
    "metric": _words(
        "metric|metrics|key metric|key metrics|primary metric|decisive metric|decisive metrics"
        "|measure|指标|评价指标|关键指标|métrica|métricas"
        "|métrica principal"
    ),
    "target": _words(
        "target|expected|success criterion|success criteria|threshold|pass criterion"
        "|pass condition|gate|acceptance|criterion|criteria|目标值|判据|成功标准|meta|alvo"
        "|critério"
    ),
    "priority": _words(
        "priority|prio|prio.|pri|importance|must/nice|must / nice|优先级|优先|重要性|prioridade|prioridad"
    ),
    "status": _words(
        "status|state|progress|run status|current status|done|done?|complete|complete?|✓|✔|✅|stat"
        "|status / date|状态|进度|当前状态|运行状态|完成情况|estado|situação|status atual"
        "|andamento|progresso|st"
    ),
    "result": _words(
        "result|results|outcome|key result|key results|final result|main result|observed|measured"
        "|actual|result summary|results summary|headline|结果|实验结果|主要结果|resultado"
        "|resultados|resultado principal"
        "|resultado final"
    ),
    "notes": _words(
        "notes|note|comment|comments|remark|remarks|details|observations|notes / result"
        "|notes / results|result / notes|results / notes|notes / evidence|evidence"
        "|evidence / notes|result / note|key finding|备注|注释|说明|备注 / 结果|备注/结果"
        "|结果/备注|结果 / 备注|observações|observação|notas|nota|obs|obs.|comentários|comentário"
        "|observaciones|comentarios"
    ),
    "config": _words(
        "config|config file|config path|yaml|configuration|配置|配置文件|configuração|arquivo de configuração"
        "|configuración"
    ),
    "command": _words(
        "command|cmd|launch command|run command|how to run|entry|entrypoint|命令|运行命令|启动命令|comando"
    ),
    "mode": _words("mode|模式|modo"),
    "seed": _words("seed|seeds|rng seed|种子|随机种子|semente|sementes|semilla"),
    "needs": _words(
        "needs|depends on|depends|dependency|dependencies|prerequisite|prerequisites|blocked by"
        "|requires|deps|after|依赖|前置|前置条件|depende de|dependências|dependência|pré-requisito"
    ),
    "cost": _words(
        "cost|gpu hours|gpu-hours|gpu-h|gpuh|gpu h|est. cost|est. gpu-h|est. gpu hours|est. gpuh"
        "|compute|est. time|estimated cost|budget|预算|成本|gpu小时|gpu时|预计耗时|custo"
        "|horas de gpu|horas gpu"
    ),
    "owner": _words("owner|assignee|who|负责人|responsável"),
    "date": _words(
        "date|started|finished|start|end|updated|last updated|日期|时间|更新时间|data / hora|iniciado"
    ),
    "output": _words(
        "output|outputs|artifact|artifacts|output path|results path|log|logs|run dir|path|wandb"
        "|输出|产物|saída"
    ),
    "commit": _words("commit|revision|git|git sha|sha"),
    "gpu": _words("gpu|gpus|device|host|server|显卡|服务器"),
}
# (part of a header, role): tried in this order where the whole header is not known.
_CONTAINS: tuple[tuple[str, str], ...] = tuple(
    (part, role)
    for role, parts in (
        ("status", ("status", "状态")),
        ("id", ("run id",)),
        ("priority", ("priority", "优先级")),
        ("stage", ("milestone", "里程碑")),
        ("notes", ("note", "备注")),
        ("metric", ("metric", "métrica")),
        ("dataset", ("dataset",)),
        ("system", ("variant",)),
        ("needs", ("depends",)),
        ("cost", ("gpu-h", "gpu hour")),
    )
    for part in parts
)
_COUNTERS = frozenset(
    {"#", "no", "no.", "nr", "序号", "seq"}
)  #: they number the rows; an id beside them wins
_ID_WORD = re.compile(
    r"^(?:run|exp|experiment|trial|test|job|eval|task)s? (?:id|no|name|tag)\b|\w id$|^id d[aeo] "
)
_SPACE = re.compile(r"\s+")
_SLASH = re.compile(r"\s*/\s*")
_PAREN = re.compile(r"\s*[(（\[【].*?[)）\]】]\s*$")


def _normal(header: str) -> str:
    text = _SPACE.sub(" ", plain(header).replace("_", " ")).strip(" :：*?？").lower()
    return _SLASH.sub(" / ", text)


_BY_HEADER = {_normal(alias) or alias: role for role, aliases in _ALIASES.items() for alias in aliases}


@lru_cache(maxsize=512)
def known_role(header: str) -> str | None:
    """Return the role that the header text means on its own, or None."""
    name = _normal(header) or header.strip()
    role = _BY_HEADER.get(name) or _BY_HEADER.get(_PAREN.sub("", name))
    if role:
        return role
    if _ID_WORD.search(name):
        return "id"
    if len(name) <= 40:
        for part, part_role in _CONTAINS:
            if part in name:
                return part_role
    return None


def roles(headers: Sequence[str], aliases: Mapping[str, str] | None = None) -> dict[str, int]:
    """Map role -> column index for a header row; `aliases` (header -> role) win over the known ones.

    The first exact header of a role takes it; a later column of the same role stays plain.
    """
    own = {_normal(key): value for key, value in (aliases or {}).items()}
    names = [_normal(header) or header.strip() for header in headers]
    found: dict[str, int] = {}
    for exact in (True, False):
        for index, name in enumerate(names):
            if index in found.values() or (name in _COUNTERS and name not in own):
                continue
            role = own.get(name) or (_BY_HEADER.get(name) if exact else known_role(headers[index]))
            if role and role not in found:
                found[role] = index
    counters = [index for index, name in enumerate(names) if name in _COUNTERS]
    if counters and counters[0] not in found.values():
        found.setdefault("id", counters[0])
    if "dataset" in found:
        found.setdefault("split", found["dataset"])
    return found


def column_names(headers: Sequence[str]) -> list[str]:
    """Return the headers as cleaned text, made unique: a second "Notes" becomes "Notes (2)"."""
    seen: dict[str, int] = {}
    names = []
    for index, header in enumerate(headers):
        name = plain(header) or f"column {index + 1}"
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names
