"""DuckDB reads the histories of all ranks, and says the same as the example did.

check.py <folder of histories> <file with what the example printed>
"""

import sys

import duckdb

folder, printed = sys.argv[1:]
rows = duckdb.sql(
    f"""select "Faction", count(*), sum("Health.hp") from '{folder}/rank-*.parquet'
        where tick = 19 and "Faction" is not null and "Health.hp" is not null group by 1 order by 1"""
).fetchall()
# The last table of the example: | tick | faction | fighters | hp |
lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in open(printed) if line.startswith("| 19 ")]
told = [(faction, int(fighters), float(hp)) for _, faction, fighters, hp in lines[-len(rows) :]]
assert len(rows) == 3 and rows == told, f"DuckDB {rows}, the example {told}"
print("DuckDB agrees:", rows)
