/** An event as a stream sends it: all that it takes to send it on. */
import type { z } from '@hono/zod-openapi'
import {
  BodyView,
  EventView,
  HeadersView,
  viewBody,
  viewEvent,
  viewHeaders,
} from '../events/event-view.ts'
import type { Event } from '../items/event.ts'

export const LiveEventView = EventView.extend({
  headers: HeadersView,
  ...BodyView.shape,
}).openapi('FerryhookLiveEvent')

export function viewLiveEvent(event: Event, body: Uint8Array): z.infer<typeof LiveEventView> {
  return { ...viewEvent(event), headers: viewHeaders(event), ...viewBody(body) }
}
