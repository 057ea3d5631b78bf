/**
 * The AWS SDK's own client on a KMS in this process: `new KMSClient({ ...embedded(kms) })`.
 *
 * There is no socket and no signature: who has the object may use it.
 */
import {
  type EmbeddedConfig,
  createEmbeddedConfig,
  type SdkRequest,
  type SdkResponse,
} from '@strongroom/platform/sdk-handler'
import { KmsError } from './errors.ts'
import type { EmbeddedKms } from './kms.ts'
import { MasterKeyError } from './master-key/errors.ts'
import { CONTENT_TYPE, execute, type WireResponse, wireFailure } from './protocol.ts'

export function embedded(kms: EmbeddedKms): EmbeddedConfig {
  return createEmbeddedConfig(kms.region, async (request) => respond(await answer(kms, request)))
}

async function answer(kms: EmbeddedKms, { headers, body }: SdkRequest): Promise<WireResponse> {
  try {
    const target = headers['x-amz-target'] ?? headers['X-Amz-Target']
    return await execute(kms, target, bytesOf(body))
  } catch (error) {
    // A defect is shown as it is: client and KMS are one program.
    if (!(error instanceof KmsError) && !(error instanceof MasterKeyError)) throw error
    return wireFailure(error)
  }
}

/** The SDK hands over bytes; other handlers in between may have made text of them. */
function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  return Buffer.from(typeof body === 'string' ? body : '')
}

function respond({ statusCode, body }: WireResponse): SdkResponse {
  return {
    statusCode,
    reason: statusCode === 200 ? 'OK' : 'Bad Request',
    headers: { 'content-type': CONTENT_TYPE },
    body: Buffer.from(JSON.stringify(body)),
  }
}
