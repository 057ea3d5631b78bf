import type { Db } from '@strongroom/kit/db'
import type { operatorOnly } from '@strongroom/kit/http/operator-only'
import type { SlackApi } from '../existence/slack-api.ts'
import type { AppItem } from './app-item.ts'
import type { AppRuntime } from './app-runtime.ts'
import type { Apps } from './apps.ts'

/** What the operator routes stand on. */
export interface OperatorDeps {
  db: Db
  apps: Apps
  runtime: Pick<AppRuntime, 'get' | 'changed' | 'removed'>
  slackApi: SlackApi
  /** What every operator route declares. */
  forOperators: {
    tags: string[]
    security: Record<string, string[]>[]
    middleware: ReturnType<typeof operatorOnly>
  }
  /** Where people reach the server, without a slash at its end. */
  publicUrl: string
  /** Throws if requests cannot be sent to this URL. */
  checkUpstream(url: string): void
  removeTokens(app: AppItem): Promise<void>
}
