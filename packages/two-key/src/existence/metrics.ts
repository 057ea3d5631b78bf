/** What key two tells about itself; the service turns it into metrics, a library into anything. */
import type { SlackMethod } from './slack-api.ts'
import type { RefusalReason, UndecidableReason } from './verdict.ts'

export interface ExistenceMetrics {
  cacheHit(): void
  cacheMiss(): void
  failed(reason: RefusalReason | UndecidableReason): void
  slackAnswered(method: SlackMethod, milliseconds: number): void
}

export const noMetrics: ExistenceMetrics = {
  cacheHit() {},
  cacheMiss() {},
  failed() {},
  slackAnswered() {},
}
