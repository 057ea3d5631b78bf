/**
 * Seals the secrets of sources, connections and alerts, each for the attribute that stores it. Reads
 * throw an `isUnreadable` error if a retry cannot help; any other error means that the keys are unavailable.
 */
import { type SecretBox, unreadable } from '@strongroom/kit/secret-box'
import * as z from 'zod'
import type { AlertSettings } from '../alerts/item.ts'
import type { Connection } from '../connections/item.ts'
import type { Source } from '../sources/item.ts'
import type { TestRequest } from '../test-requests/item.ts'
import { decodeSigningSecret, packSecrets, type SecretList, unpackSecrets } from './secret-list.ts'

/** Headers that a connection adds to deliveries, by lower-case name. */
export const CustomHeaders = z.record(z.string(), z.string())
export type CustomHeaders = z.infer<typeof CustomHeaders>

type SourceId = Pick<Source, 'sourceId' | 'userId'>
type ConnectionId = Pick<Connection, 'connectionId' | 'userId'>

type TestRequestId = Pick<TestRequest, 'connectionId' | 'userId' | 'number'>

export type SealedSecrets = ReturnType<typeof createSealedSecrets>

export function createSealedSecrets(box: SecretBox) {
  const place = (userId: string, entity: string, attribute: string) => ({
    service: 'ferryhook',
    tenant: userId,
    entity,
    attribute,
  })
  const ofSource = ({ userId, sourceId }: SourceId) => place(userId, sourceId, 'signingSecret')
  const ofConnection = (
    { userId, connectionId }: ConnectionId,
    attribute: 'signingSecret' | 'customHeaders',
  ) => place(userId, connectionId, attribute)

  const ofTestRequest = ({ userId, connectionId, number }: TestRequestId) =>
    place(userId, connectionId, `testRequest-${number}`)

  async function seal(text: string, at: ReturnType<typeof place>): Promise<string> {
    return Buffer.from(await box.seal(new TextEncoder().encode(text), at)).toString('base64')
  }

  async function open(sealed: string, at: ReturnType<typeof place>): Promise<string> {
    return Buffer.from(await box.open(Buffer.from(sealed, 'base64'), at)).toString()
  }

  return {
    sealSourceSecrets: (source: SourceId, list: SecretList) =>
      seal(packSecrets(list), ofSource(source)),

    /** Empty if the source has no secret. */
    async sourceSecrets(source: SourceId & Pick<Source, 'signingSecret'>): Promise<SecretList> {
      if (source.signingSecret === undefined) return []
      return unpackSecrets(await open(source.signingSecret, ofSource(source)))
    },

    sealConnectionSecrets: (connection: ConnectionId, list: SecretList) =>
      seal(packSecrets(list), ofConnection(connection, 'signingSecret')),

    async connectionSecrets(
      connection: ConnectionId & Pick<Connection, 'signingSecret'>,
    ): Promise<SecretList> {
      const at = ofConnection(connection, 'signingSecret')
      const list = unpackSecrets(await open(connection.signingSecret, at))
      const isUsable = list.every(({ secret }) => decodeSigningSecret(secret) !== undefined)
      if (!isUsable) throw unreadable('Not a list of signing secrets')
      return list
    },

    sealAlertSecrets: (userId: string, list: SecretList) =>
      seal(packSecrets(list), place(userId, 'alerts', 'signingSecret')),

    async alertSecrets({
      userId,
      signingSecret,
    }: Pick<AlertSettings, 'userId' | 'signingSecret'>): Promise<SecretList> {
      if (signingSecret === undefined) return []
      return unpackSecrets(await open(signingSecret, place(userId, 'alerts', 'signingSecret')))
    },

    sealCustomHeaders: (connection: ConnectionId, headers: CustomHeaders) =>
      seal(JSON.stringify(headers), ofConnection(connection, 'customHeaders')),

    /** Bound to its number, so that one request cannot be shown as another. */
    sealTestRequest: (at: TestRequestId, content: Uint8Array) =>
      box.seal(content, ofTestRequest(at)),

    testRequest: (at: TestRequestId, sealed: Uint8Array) => box.open(sealed, ofTestRequest(at)),

    async customHeaders(
      connection: ConnectionId & Pick<Connection, 'customHeaders'>,
    ): Promise<CustomHeaders> {
      const { customHeaders } = connection
      if (customHeaders === undefined) return {}
      const text = await open(customHeaders, ofConnection(connection, 'customHeaders'))
      return unpackHeaders(text)
    },
  }
}

/** Throws an error that `isUnreadable` recognises, without quoting the text, which may contain credentials. */
function unpackHeaders(text: string): CustomHeaders {
  try {
    return CustomHeaders.parse(JSON.parse(text))
  } catch {
    throw unreadable('Not an object of headers')
  }
}
