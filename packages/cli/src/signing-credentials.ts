/** The credentials that requests to a server of this program must be signed with. */
import { type CommandInput, UsageError } from './command.ts'

export function signingCredentials(env: CommandInput['env']) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey }
  throw new UsageError(
    'Requests must be signed: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and give the same to clients',
  )
}
