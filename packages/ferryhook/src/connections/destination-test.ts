/** Sends a signed test event to the destination of a connection. */
import { newId } from '@strongroom/kit/ids'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { Clock } from '@strongroom/platform/clock'
import type { Principal } from '../accounts/authentication.ts'
import { type SendResult, sendWebhook } from '../outbound/exchange.ts'
import { mergeHeaders } from '../outbound/headers.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { activeSecrets } from '../signing/secret-list.ts'
import { signatureHeaders } from '../signing/signature.ts'
import type { Stores } from '../stores.ts'
import type { TestDestination } from '../test-requests/destination.ts'
import type { ConnectionService } from './service.ts'

export type DestinationTest = (principal: Principal, connectionId: string) => Promise<SendResult>

export function createDestinationTest(deps: {
  stores: Pick<Stores, 'audit'>
  connections: Pick<ConnectionService, 'get'>
  sealedSecrets: SealedSecrets
  safeFetch: SafeFetch
  testDestination: TestDestination
  clock: Clock
}): DestinationTest {
  const { stores, connections, sealedSecrets, safeFetch, testDestination, clock } = deps

  return async (principal, connectionId) => {
    const connection = await connections.get(principal, connectionId)
    const now = clock.now()
    const eventId = newId('evt')
    const sentAt = new Date(now).toISOString()
    const body = new TextEncoder().encode(
      JSON.stringify({ type: 'ferryhook.test', id: eventId, sentAt }),
    )
    const secrets = activeSecrets(await sealedSecrets.connectionSecrets(connection), now)
    const headers = mergeHeaders(
      { 'content-type': 'application/json' },
      await sealedSecrets.customHeaders(connection),
      { ...signatureHeaders({ eventId, body, secrets, now }) },
    )
    const { user, actor } = principal
    const action = 'connection.tested'
    await stores.audit.add({ userId: user.userId, actor, action, target: connectionId })
    const fetcher = testDestination(connection, { eventId }) ?? safeFetch
    return sendWebhook({ fetcher, clock }, connection.destinationUrl, {
      method: 'POST',
      headers,
      body,
    })
  }
}
