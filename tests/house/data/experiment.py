"""A tiny experiment: writes a result of the size that was asked for, and what it was told."""

import json
import sys
from pathlib import Path

out, limit, system = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
items = [{"id": str(i), "response": str(i), "correct": i % 4 != 0} for i in range(limit)]
accuracy = sum(i["correct"] for i in items) / limit
print(f"system={system} items={limit} accuracy={accuracy}")
out.write_text(json.dumps({"metrics": {"accuracy": accuracy}, "per_item": items, "complete": True}))
