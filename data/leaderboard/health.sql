-- Which results say little, and why: trials without a score, and agents at or below the floor.
SELECT
    participants.agent AS id,
    res.domain AS "Domain",
    CAST(res.max_score_all AS BIGINT) AS "Trials",
    CAST(res.failed AS BIGINT) AS "Failed",
    CAST(res.unscored AS BIGINT) AS "Unscored",
    CAST(res.pass_rate AS DOUBLE) AS "Pass Rate",
    CAST(res.floor AS DOUBLE) AS "Floor",
    CASE
        WHEN res.max_score = 0 THEN 'nothing was scored'
        WHEN res.failed + res.unscored > 0 THEN 'some trials have no score'
        WHEN CAST(res.pass_rate AS DOUBLE) <= CAST(res.floor AS DOUBLE) THEN 'no better than doing nothing'
    END AS "What to Know"
FROM results
CROSS JOIN UNNEST(results.results) AS r(res)
WHERE res.max_score_all IS NOT NULL AND "What to Know" IS NOT NULL
ORDER BY id, "Domain", "Trials" DESC, "What to Know";
