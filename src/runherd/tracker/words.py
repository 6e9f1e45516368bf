"""The words: how people write statuses and priorities, in English, Chinese, Portuguese and Spanish."""

from __future__ import annotations

from runherd.tracker.model import Priority, Status


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


# UNKNOWN holds the phrases that begin like a known word and mean something else.
STATUS_WORDS: dict[Status, tuple[str, ...]] = {
    Status.TODO: _words(
        "todo|to do|to run|to be run|not started|not yet started|not yet run|not run|not run yet"
        "|not launched|not yet launched|not submitted|not begun|unstarted|pending|planned|ready"
        "|ready to run|ready to launch|ready for launch|scheduled|queued|待运行|待做|待办|未开始"
        "|待执行|待跑|未运行|计划中|待启动|待开始|未启动|未跑|待实验|未执行|待测|排队中|pendente"
        "|a fazer|não iniciado|não iniciada|não executado|não executada|por fazer|planejado"
        "|planejada|pronto|pronta|agendado|na fila|to launch"
        "|pendiente|por hacer|no iniciado|no iniciada|sin empezar|planificado|en cola"
    ),
    Status.RUNNING: _words(
        "running|in progress|inprogress|ongoing|wip|started|training|evaluating|active|launched"
        "|submitted|resumed|rerunning|re running|in flight|live|运行中|进行中|训练中|正在运行"
        "|正在进行|评估中|执行中|正在跑|在跑|em andamento|executando|rodando|em execução"
        "|em progresso|treinando|running now|training now|re run in progress"
        "|en curso|en progreso|ejecutando|corriendo|en ejecución|entrenando"
    ),
    Status.DONE: _words(
        "done|complete|completed|pass|passed|finished|success|succeeded|successful|negative"
        "|negative result|已完成|完成|已通过|通过|已跑完|跑完|已结束|成功|concluído|concluída"
        "|feito|feita|completo|completa|finalizado|finalizada|terminado|terminada|aprovado"
        "|pronto e validado|sucesso|verified complete|done verified"
        "|hecho|hecha|completado|completada|finalizado ok|listo|lista"
    ),
    Status.BLOCKED: _words(
        "blocked|on hold|hold|paused|locked|gated|waiting|deferred|conditional|postponed|stalled"
        "|suspended|awaiting|needs decision|阻塞|受阻|被阻塞|等待|等待中|暂停|已暂停|搁置|延后"
        "|推迟|bloqueado|bloqueada|aguardando|pausado|pausada|adiado|adiada|suspenso|em espera"
        "|defer|deferred until|暂缓|挂起|已挂起|待批准|not authorized|unauthorized"
        "|pending approval|pending decision|awaiting approval|do later"
        "|en espera de|detenido|aplazado"
    ),
    Status.FAILED: _words(
        "failed|fail|failure|error|errored|crashed|crash|oom|killed|aborted|timeout|timed out"
        "|diverged|stopped|terminated|interrupted|broken|失败|已失败|出错|错误|崩溃|未通过"
        "|运行中断|已中断|已终止|falhou|falha|falhado|erro|abortado|interrompido|reprovado|hung"
        "|invalid|nan|died|preempted|audit fail"
        "|fallido|fallida|falló|fallo|interrumpido"
    ),
    Status.SKIPPED: _words(
        "skip|skipped|cancelled|canceled|dropped|deprecated|superseded|removed|abandoned|n/a|na"
        "|obsolete|not needed|not required|not applicable|wontfix|won't run|won't do|wont run"
        "|do not run|don't run|retired|cut|descoped|killed by design|not planned|取消|已取消|跳过"
        "|已跳过|废弃|已废弃|放弃|已放弃|不需要|不做|作废|cancelado|cancelada|pulado|pulada"
        "|ignorado|descartado|descartada|abandonado|não necessário|substituído|excluded|withdrawn"
        "|void|killed by gate|cancelled by gate|canceled by gate|no run|not run by design|弃用"
        "|停用|已停用"
        "|omitido|omitida|descartado por"
    ),
    Status.UNKNOWN: _words(
        "partial|partially done|partially complete|partially completed|mixed|inconclusive"
        "|incomplete|部分完成|完成度|未完成|完成中|待完成|待定|通过率|成功率|失败率|parcial"
        "|parcialmente|incompleto|not done|not complete|not completed|not passed|unblocked"
        "|done pending|ready except|success rate|pass rate|error rate|active learning"
        "|training free|pass@|complete case|needs|to be|implemented|dry run|mostly done"
        "|almost done|nearly done|next up|next step|ready for review|待验证|待评审|待复核|待审"
    ),
}

PRIORITY_WORDS: dict[Priority, tuple[str, ...]] = {
    Priority.MUST: _words(
        "must|must-run|must run|must have|required|mandatory|critical|blocker|p0|必须|必做|必跑"
        "|必需|必要|obrigatório|obrigatória|essencial|core"
    ),
    Priority.SHOULD: _words(
        "should|should-run|should run|medium|normal|p2|应该|应做|中|建议|deveria|média|medio|médio"
    ),
    Priority.HIGH: _words("high|p1|important|高|重要|alta|alto|importante"),
    Priority.NICE: _words(
        "nice|nice-to-have|nice to have|optional|low|could|p3|p4|stretch|bonus|可选|低|选做"
        "|opcional|baixa|baixo|desejável"
    ),
    Priority.CONDITIONAL: _words(
        "conditional|cond|if needed|contingent|only if|条件|有条件|视情况|condicional"
    ),
}
