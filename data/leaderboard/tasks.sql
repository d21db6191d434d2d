-- How hard each task is: the mean reward over all submissions that have one for it.
-- A row of one domain names its tasks by id alone, one of several domains as <domain>/<id>.
WITH rewards AS (
    SELECT
        res.domain AS domain,
        to_json(res.task_rewards) AS record,
        unnest(json_keys(to_json(res.task_rewards))) AS task
    FROM results
    CROSS JOIN UNNEST(results.results) AS r(res)
    WHERE res.task_rewards IS NOT NULL
),
scored AS (
    SELECT
        domain,
        task,
        CAST(json_extract_string(record, '$."' || task || '"') AS DOUBLE) AS reward
    FROM rewards
)
SELECT
    domain AS "Domain",
    task AS "Task",
    count(reward) AS "Submissions",
    round(avg(reward), 4) AS "Mean Reward"
FROM scored
WHERE reward IS NOT NULL
GROUP BY domain, task
ORDER BY "Mean Reward", domain, task;
