/** Puts together what users see of events: the routes, the streams, and what goes on with replays. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Clock } from '@strongroom/kit/clock'
import type { Cursors } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { Log } from '@strongroom/kit/log'
import type { Notices } from '../accounts/notices.ts'
import { analyticsRoutes } from '../analytics/analytics-routes.ts'
import { createOverview } from '../analytics/overview.ts'
import { createUsageBook } from '../analytics/usage.ts'
import type { Permissions } from '../api/permissions.ts'
import type { Authenticate } from '../auth/authenticate.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { systemTimers, type Timers } from '../delivery/timers.ts'
import { createLiveDesk } from '../live/live-desk.ts'
import { liveRoutes } from '../live/live-routes.ts'
import { rangeReplayRoutes } from '../replay/range-replay-routes.ts'
import { createReplayBook } from '../replay/replay-book.ts'
import { createReplayDesk } from '../replay/replay-desk.ts'
import { replayRoutes } from '../replay/replay-routes.ts'
import { createReplayRunner, type ReplayRunner } from '../replay/runner.ts'
import { createDeliveryDesk } from './delivery-desk.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { createEventBook } from './event-book.ts'
import { eventRoutes } from './event-routes.ts'

export interface ComposedEvents {
  routes: OpenAPIHono<AppEnv>[]
  /** An event was stored by this process. */
  received(sourceId: string): void
  /** Ends all streams; their clients know that they may come back. */
  endStreams(): void
  replays: ReplayRunner
}

export function composeEvents(deps: {
  layer: DataLayer
  clock: Clock
  timers?: Timers | undefined
  cursors: Cursors
  log: Log
  permit: Permissions
  authenticate: Authenticate
  notices: Pick<Notices, 'workDue'>
}): ComposedEvents {
  const { permit, notices } = deps
  const given = { ...deps, timers: deps.timers ?? systemTimers }
  const eventBook = createEventBook(given)
  const parts = { ...given, eventBook }
  const replays = createReplayRunner({ ...given, onReplayed: () => notices.workDue() })
  const liveDesk = createLiveDesk(given)
  return {
    routes: [
      eventRoutes(parts),
      deliveryRoutes({ permit, deliveryDesk: createDeliveryDesk(parts) }),
      replayRoutes({ permit, replayDesk: createReplayDesk(parts) }),
      rangeReplayRoutes({
        permit,
        replayBook: createReplayBook({ ...parts, onStart: () => replays.hint() }),
      }),
      analyticsRoutes({
        permit,
        overview: createOverview(parts),
        usage: createUsageBook(given),
      }),
      liveRoutes({ permit, liveDesk }),
    ],
    received: liveDesk.received,
    endStreams: liveDesk.stop,
    replays,
  }
}
