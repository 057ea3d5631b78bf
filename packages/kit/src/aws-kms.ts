/**
 * Kms over the AWS SDK: AWS KMS, or anything that speaks its protocol behind an endpoint.
 *
 * Import it dynamically: the SDK would be most of what a start loads.
 */
import {
  DecryptCommand,
  DescribeKeyCommand,
  EncryptCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  KMSClient,
  ReEncryptCommand,
} from '@aws-sdk/client-kms'
import { accessDenied } from './access-denied.ts'
import type { Kms } from './kms.ts'

export interface AwsKmsOptions {
  region: string
  /** AWS's own endpoint of the region unless given. */
  endpoint?: string
  /** From the SDK's default provider chain unless given. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
}

export interface AwsKms extends Kms {
  close(): void
}

/** KMS responds in milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000
const CONNECT_TIMEOUT_MS = 3_000
/** None of the operations changes anything in KMS, so each may be repeated. */
const MAX_ATTEMPTS = 4

export function createAwsKms(options: AwsKmsOptions): AwsKms {
  const client = new KMSClient({
    ...options,
    maxAttempts: MAX_ATTEMPTS,
    // The same as in AWS's own libraries for branch keys.
    customUserAgent: 'aws-kms-hierarchy',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  })

  /** Calls one operation. In AWS's types every part of the output is optional. */
  const operation =
    <Input, Output>(Command: new (input: never) => unknown, ...parts: (keyof Output & string)[]) =>
    async (input: Input): Promise<Output> => {
      const output: object = await client.send(new Command(input as never) as never).catch(rethrow)
      return requireParts(output as Partial<Output>, parts)
    }

  return {
    generateDataKeyWithoutPlaintext: operation(
      GenerateDataKeyWithoutPlaintextCommand,
      'KeyId',
      'CiphertextBlob',
    ),
    encrypt: operation(EncryptCommand, 'KeyId', 'CiphertextBlob'),
    decrypt: operation(DecryptCommand, 'KeyId', 'Plaintext'),
    reEncrypt: operation(ReEncryptCommand, 'SourceKeyId', 'KeyId', 'CiphertextBlob'),
    describeKey: operation(DescribeKeyCommand, 'KeyMetadata'),
    close: () => client.destroy(),
  }
}

function requireParts<Output>(output: Partial<Output>, parts: (keyof Output & string)[]): Output {
  const found = parts.map((part) => [part, output[part]])
  if (found.some(([, value]) => value === undefined))
    throw new Error(`The response of KMS lacks ${parts.join(' or ')}. Check the endpoint.`)
  return Object.fromEntries(found) as Output
}

interface SdkErrorFields {
  code?: string
  $metadata?: { httpStatusCode?: number }
}

/**
 * Rethrows an error of the SDK without the request and response that the SDK attaches, because their
 * headers and signature must not reach a log.
 */
function rethrow(error: Error & SdkErrorFields): never {
  const { name, message, code, $metadata: { httpStatusCode: status = 0 } = {} } = error
  // Such as a proxy in front of KMS that responds in its place; the message may quote its page.
  if (name === 'SyntaxError' || (status >= 500 && !/(?:Exception|Unavailable|Failure)$/.test(name)))
    throw Object.assign(new Error(`KMS sent no valid response (status ${status})`), {
      name: 'KMSInternalException',
    })
  if (name === 'AccessDeniedException') throw accessDenied(message)
  throw Object.assign(new Error(message), { name, ...(code !== undefined && { code }) })
}
