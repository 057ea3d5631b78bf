/**
 * The AWS SDK's own client on a KMS in this process: `new KMSClient({ ...embedded(kms) })`.
 *
 * There is no socket and no signature: code that has the object can use it.
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
  return createEmbeddedConfig(kms.region, async (request) =>
    respond(await handleRequest(kms, request)),
  )
}

async function handleRequest(
  kms: EmbeddedKms,
  { headers, body }: SdkRequest,
): Promise<WireResponse> {
  try {
    const target = headers['x-amz-target'] ?? headers['X-Amz-Target']
    return await execute(kms, target, bytesOf(body))
  } catch (error) {
    // A defect is thrown unchanged, because client and KMS are one program.
    if (!(error instanceof KmsError) && !(error instanceof MasterKeyError)) throw error
    return wireFailure(error)
  }
}

/** The SDK passes bytes; middleware may have turned them into text. */
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
