/** Gauges of `/metrics` for what only the store knows: due work, the disk and the last backup. */
import { Gauge, type Metrics } from '@strongroom/kit/metrics'

/** By the names that figures have for them. */
const GAUGES = {
  work_due: { name: 'strongroom_work_due', help: 'Tasks that are due, in the whole store' },
  work_overdue: {
    name: 'strongroom_work_overdue',
    help: 'Tasks that no worker took for a minute, in the whole store',
  },
  store_bytes: { name: 'strongroom_store_bytes', help: 'Size of the embedded store' },
  store_free_bytes: {
    name: 'strongroom_store_free_bytes',
    help: 'Free space on the disk of the embedded store',
  },
  last_backup_seconds: {
    name: 'strongroom_last_backup_timestamp_seconds',
    help: 'When the last backup was completed',
  },
} as const

/** Figures have these already. */
export const statusMetricNames: ReadonlySet<string> = new Set(
  Object.values(GAUGES).map(({ name }) => name),
)

/** Returns a function that sets them. A gauge that was never set has no series. */
export function createStatusMetrics({ registry }: Pick<Metrics, 'registry'>) {
  const gauges = Object.entries(GAUGES).map(([figure, declared]) => {
    // Without a label, a new gauge would report 0, such as a backup in 1970.
    const gauge = new Gauge({ ...declared, labelNames: ['store'] as const, registers: [registry] })
    return [figure, gauge] as const
  })
  return (store: string, figures: Readonly<Record<string, number>>): void => {
    for (const [figure, gauge] of gauges) {
      const value = figures[figure]
      if (value !== undefined) gauge.set({ store }, value)
    }
  }
}
