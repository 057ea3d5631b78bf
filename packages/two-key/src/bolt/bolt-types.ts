/** What the middleware needs of Bolt, by its shape alone: Bolt is not imported. */
import type { DecisionLog } from '../decision-log.ts'
import type { Rejected } from '../decision.ts'
import type { JsonObject } from '../payload/json.ts'

export interface BoltArgs {
  body: object
  context: { botToken?: string | undefined } & JsonObject
  logger: DecisionLog
  next: () => Promise<void>
  /** Not there where Bolt has acknowledged already. */
  ack?: ((...response: never[]) => Promise<void>) | undefined
}

export type BoltMiddleware = (args: BoltArgs) => Promise<void>

export type OnRejected = (rejected: Rejected, args: BoltArgs) => void | Promise<void>
