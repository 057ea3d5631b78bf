/** An error as sent over the wire: status, `__type` with its namespace, and its items. */
import { DynamoError, internalError } from '../errors.ts'
import { itemToWire } from '../values/wire.ts'

interface WireFailure {
  statusCode: number
  body: object
}

const DYNAMODB = 'com.amazonaws.dynamodb.v20120810'
const NAMESPACES: ReadonlyMap<string, string> = new Map([
  ['ValidationException', 'com.amazon.coral.validate'],
  ['SerializationException', 'com.amazon.coral.service'],
  ['UnknownOperationException', 'com.amazon.coral.service'],
  ['AccessDeniedException', 'com.amazon.coral.service'],
  ['MissingAuthenticationTokenException', 'com.amazon.coral.service'],
  ['IncompleteSignatureException', 'com.amazon.coral.service'],
  ['InvalidSignatureException', 'com.amazon.coral.service'],
  ['UnrecognizedClientException', 'com.amazon.coral.service'],
  ['RequestEntityTooLargeException', 'com.amazon.coral.service'],
  ['RequestTimeoutException', 'com.amazon.coral.service'],
])

/** An error that is not a DynamoError is a defect, and its message is not sent. */
export function wireFailure(error: unknown): WireFailure {
  const failure = error instanceof DynamoError ? error : internalError()
  const { name, message, statusCode, Item, CancellationReasons } = failure
  return {
    statusCode,
    body: {
      __type: `${NAMESPACES.get(name) ?? DYNAMODB}#${name}`,
      ...(message !== '' && { [messageMember(name)]: message }),
      ...(Item && { Item: itemToWire(Item) }),
      ...(CancellationReasons && {
        CancellationReasons: CancellationReasons.map(({ Item: item, ...reason }) => ({
          ...(item && { Item: itemToWire(item) }),
          ...reason,
        })),
      }),
    },
  }
}

/** AWS uses both spellings. */
function messageMember(name: string): string {
  return name === 'TransactionCanceledException' || name === 'SerializationException'
    ? 'Message'
    : 'message'
}
