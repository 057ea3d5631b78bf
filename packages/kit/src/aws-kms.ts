/**
 * Kms over the AWS SDK: AWS KMS, or anything that speaks its protocol behind an endpoint.
 *
 * Import it only where it is used: the SDK is most of what a start would otherwise load.
 */
import {
  DecryptCommand,
  DescribeKeyCommand,
  EncryptCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  KMSClient,
  ReEncryptCommand,
} from '@aws-sdk/client-kms'
import type { Kms } from './kms.ts'

export interface AwsKmsOptions {
  region: string
  /** Where KMS is, if not where AWS has it. */
  endpoint?: string
  /** If not given, the SDK looks for them where it always does. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
}

export interface AwsKms extends Kms {
  close(): void
}

/** KMS answers in milliseconds; one that does not in this time will not. */
const ANSWER_MS = 5000
const CONNECT_MS = 3000
/** None of the operations changes anything at KMS, so each may be repeated. */
const ATTEMPTS = 4

export function createAwsKms(options: AwsKmsOptions): AwsKms {
  const client = new KMSClient({
    ...options,
    maxAttempts: ATTEMPTS,
    // AWS's own libraries for branch keys say the same.
    customUserAgent: 'aws-kms-hierarchy',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
    },
  })

  /** Calls one operation. AWS's types say that any part of an answer may be missing. */
  const operation =
    <Input, Output>(Command: new (input: never) => unknown, ...parts: (keyof Output & string)[]) =>
    async (input: Input): Promise<Output> => {
      const answer: object = await client.send(new Command(input as never) as never).catch(rethrow)
      return partsOf(answer as Partial<Output>, parts)
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

function partsOf<Output>(answer: Partial<Output>, parts: (keyof Output & string)[]): Output {
  const found = parts.map((part) => [part, answer[part]])
  if (found.some(([, value]) => value === undefined))
    throw new Error(`KMS gave an answer without ${parts.join(' or ')}: check the endpoint`)
  return Object.fromEntries(found) as Output
}

/**
 * What the SDK threw, with its name and nothing that must not reach a log: the SDK's own carries the
 * whole exchange, with its headers and signature.
 */
function rethrow({ name, message, code }: Error & { code?: string }): never {
  throw Object.assign(new Error(message), { name, ...(code !== undefined && { code }) })
}
