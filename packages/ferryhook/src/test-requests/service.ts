/** What the test destination recorded, for the owner of a connection. */
import { type Principal, requirePermission } from '../accounts/authentication.ts'
import type { ConnectionService } from '../connections/service.ts'
import { ferryhookError } from '../errors.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import type { Stores } from '../stores.ts'
import { type RecordedHeaders, unpackContent } from './destination.ts'
import type { TestRequest } from './item.ts'

export type TestRequestDetail = TestRequest & { headers: RecordedHeaders; body: Uint8Array }

export type TestRequestService = ReturnType<typeof createTestRequestService>

export function createTestRequestService(deps: {
  stores: Pick<Stores, 'testRequests'>
  connections: Pick<ConnectionService, 'get'>
  sealedSecrets: Pick<SealedSecrets, 'testRequest'>
}) {
  const { connections, sealedSecrets } = deps
  const { testRequests } = deps.stores

  return {
    async list(principal: Principal, connectionId: string): Promise<TestRequest[]> {
      await connections.get(principal, connectionId)
      return testRequests.listByConnection(connectionId)
    },

    /** Headers of the connection may be credentials, which only an admin may see. */
    async get(
      principal: Principal,
      connectionId: string,
      number: number,
    ): Promise<TestRequestDetail> {
      await connections.get(principal, connectionId)
      const found = await testRequests.get(connectionId, number)
      if (!found) throw ferryhookError('test_request_not_found')
      if (found.request.hasCredentials) requirePermission(principal, 'admin')
      const packed = await sealedSecrets.testRequest(found.request, found.content)
      return { ...found.request, ...(await unpackContent(packed)) }
    },
  }
}
