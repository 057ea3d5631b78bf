/** What the owner of a connection wants to be told, and whoever tells it. */
import type { Connection } from '../items/connection.ts'

type About = Pick<Connection, 'userId' | 'sourceId' | 'connectionId'>

export type Alert =
  /** A delivery came to its end without success; more of the same are told together. */
  | (About & { kind: 'delivery.failed'; eventId: string; reason: string })
  /** It has been failing for a while, and will be paused if it goes on. */
  | (About & { kind: 'connection.warning'; failingSince: string; failedAttempts: number })
  /** It was paused by us; what comes for it is held. */
  | (About & { kind: 'connection.paused'; reason: string })
  /** A limit of the plan was reached. */
  | { kind: 'limit.reached'; userId: string; sourceId?: string | undefined; limit: string }

export type AlertKind = Alert['kind']

export interface Alerts {
  /** Returns at once and never throws: nothing that is done depends on an alert. */
  raise(alert: Alert): void
}

export const noAlerts: Alerts = { raise: () => {} }
