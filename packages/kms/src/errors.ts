/**
 * The errors of the KMS, with AWS's exception names. Callers distinguish them by `name`, as with the AWS
 * SDK. Messages contain parameter names and key ids, never contexts, blobs or key material.
 */
export class KmsError extends Error {
  readonly statusCode: number

  constructor(name: string, message: string, statusCode = 400, options?: ErrorOptions) {
    super(message, options)
    this.name = name
    this.statusCode = statusCode
  }
}

export function validationError(message: string): KmsError {
  return new KmsError('ValidationException', message)
}

export function notFound(message: string): KmsError {
  return new KmsError('NotFoundException', message)
}

export function disabled(arn: string): KmsError {
  return new KmsError('DisabledException', `${arn} is disabled: enable it first`)
}

export function invalidState(message: string, options?: ErrorOptions): KmsError {
  return new KmsError('KMSInvalidStateException', message, 400, options)
}

export function invalidCiphertext(): KmsError {
  return new KmsError(
    'InvalidCiphertextException',
    'CiphertextBlob was not made by this KMS, was altered, or belongs to another EncryptionContext',
  )
}

export function incorrectKey(): KmsError {
  return new KmsError(
    'IncorrectKeyException',
    'CiphertextBlob was encrypted under another key than the one given',
  )
}

export function unsupported(message: string): KmsError {
  return new KmsError('UnsupportedOperationException', message)
}

/** Another process changed the key concurrently; a retry may succeed. */
export function conflict(message: string): KmsError {
  return new KmsError('ConflictException', message)
}

export function limitExceeded(message: string): KmsError {
  return new KmsError('LimitExceededException', message)
}
