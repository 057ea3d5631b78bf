import { createServerApp } from '@strongroom/server/app'
import { services } from '@strongroom/server/services'
import { httpHandler } from '../http-handler.ts'
import { openRuntime, requirePublicUrl } from '../runtime.ts'

/** With all services, because the API reference and the status describe all of them. */
export const handler = httpHandler(async () => {
  const runtime = await openRuntime(services)
  requirePublicUrl(runtime)
  const app = await createServerApp({ ...runtime, services })
  return {
    handle: async (request) =>
      app.fetch(request.web(), { incoming: { socket: { remoteAddress: request.peerAddress } } }),
    resume: runtime.resume,
    rest: runtime.rest,
    flush: app.flush,
    endStreams: app.endStreams,
  }
})
