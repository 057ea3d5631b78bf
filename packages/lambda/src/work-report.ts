/** What the worker did, as a line of the log: the stack makes metrics and alarms from it. */
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'

/** The message of the line; the metric filters of the stack look for it. */
export const WORK_REPORT = 'work report'

/** Reports deliveries that failed for good since the last report and, if known, overdue tasks. */
export type WorkReport = (overdue?: number) => Promise<void>

export function createWorkReport({ metrics, log }: { metrics: Metrics; log: Log }): WorkReport {
  let reported = 0
  return async (overdue) => {
    const total = await countFailed(metrics)
    const failed = total - reported
    reported = total
    if (failed === 0 && overdue === undefined) return
    log.info(WORK_REPORT, { failed, ...(overdue !== undefined && { overdue }) })
  }
}

async function countFailed({ registry }: Metrics): Promise<number> {
  const metric = await registry.getSingleMetric('strongroom_ferryhook_deliveries_total')?.get()
  return metric?.values.find(({ labels }) => labels['state'] === 'failed')?.value ?? 0
}
