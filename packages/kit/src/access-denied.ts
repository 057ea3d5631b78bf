/** AWS denied a call: the IAM policy of this process, or the policy of the KMS key, lacks the action. */
export class AccessDenied extends Error {
  // The name that AWS gives it: services decide by names.
  override readonly name = 'AccessDeniedException'
}

/** From a message of AWS, which names the caller too; that does not belong in a log. */
export function accessDenied(message: string): AccessDenied {
  const [, action] = /not authorized to perform: ([\w-]+:\w+)/.exec(message) ?? []
  // The name without region and account: table/strongroom-server, key/1234abcd-….
  const [, name] = / on resource: arn:(?:[^:\s]*:){4}(\S+)/.exec(message) ?? []
  if (action === undefined) return new AccessDenied(message)
  const what = name === undefined ? action : `${action} on ${name}`
  return new AccessDenied(
    `AWS denied ${what}: add it to the IAM policy of this process. "strongroom tables policy" prints what a server needs; functions get their roles from the stack.`,
  )
}
