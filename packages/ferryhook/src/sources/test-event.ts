/** Sends a test event to a source as its provider would: through ingest, verified like any other. */
import type { HotRequest } from '@strongroom/kit/http/hot-routes'
import type { HttpResponse } from '@strongroom/kit/http/request'
import { newId } from '@strongroom/kit/ids'
import type { Clock } from '@strongroom/platform/clock'
import type { Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { activeSecrets } from '../signing/secret-list.ts'
import type { Stores } from '../stores.ts'
import { schemeOf } from '../verification/configuration.ts'
import { testBody, testSignature } from '../verification/test-signature.ts'
import { methodsOf } from './item.ts'
import type { SourceService } from './service.ts'

export type ReceiveEvent = (request: HotRequest) => Promise<HttpResponse>

export type SendTestEvent = (
  principal: Principal,
  sourceId: string,
  clientAddress: string | undefined,
) => Promise<{ eventId: string }>

export function createSendTestEvent(deps: {
  stores: Pick<Stores, 'audit'>
  sources: Pick<SourceService, 'get'>
  sealedSecrets: SealedSecrets
  receiveEvent: ReceiveEvent
  publicUrl: string
  clock: Clock
}): SendTestEvent {
  const { stores, sources, sealedSecrets, receiveEvent, publicUrl, clock } = deps

  return async (principal, sourceId, clientAddress) => {
    const source = await sources.get(principal, sourceId)
    if (source.status === 'paused') throw ferryhookError('source_paused')
    const content = { id: newId('evt'), now: clock.now() }
    const { body, headers } = testBody(source.provider, content)
    const scheme = schemeOf(source)
    const url = `${publicUrl}/in/${sourceId}`
    let signature: Record<string, string> = {}
    if (scheme) {
      const [secret = ''] = activeSecrets(await sealedSecrets.sourceSecrets(source), content.now)
      const signed = testSignature({ ...content, scheme, secret, url, body })
      if (!signed) throw ferryhookError('only_provider_signs')
      signature = signed
    }
    const { user, actor } = principal
    const action = 'source.tested'
    await stores.audit.add({ userId: user.userId, actor, action, target: sourceId })
    const [method = 'POST'] = methodsOf(source)
    const response = await receiveEvent({
      method,
      parameter: sourceId,
      query: undefined,
      rawHeaders: Object.entries({ ...headers, ...signature }).flat(),
      body,
      clientAddress,
    })
    const { id: eventId } = JSON.parse(response.body) as { id: string }
    return { eventId }
  }
}
