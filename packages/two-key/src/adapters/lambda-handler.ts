/** For AWS Lambda behind API Gateway, a function URL or a load balancer. */
import { MAX_BODY_BYTES, type TwoKey } from '../verify.ts'
import { headersOf, type LambdaEvent, rawBodyOf, readableEvent } from './lambda-event.ts'
import { screen, type Verified } from './screen.ts'

export interface LambdaResult {
  statusCode: number
  headers?: Record<string, boolean | number | string>
  body?: string
  isBase64Encoded?: boolean
}

/**
 * Calls the handler for what both keys open; everything else is answered here. Takes exactly two
 * arguments: newer runtimes refuse a handler with a third.
 */
export function twoKeyLambda<Event extends LambdaEvent, Context, Result>(
  keys: TwoKey,
  handler: (event: Event, context: Context, verified: Verified) => Promise<Result>,
): (event: Event, context: Context) => Promise<Result | LambdaResult> {
  return async (event, context) => {
    const rawBody = rawBodyOf(event)
    const isTooLarge = rawBody.byteLength > MAX_BODY_BYTES
    const screened = await screen(isTooLarge ? undefined : rawBody, headersOf(event), keys)
    if ('verified' in screened) {
      return handler(readableEvent(event, rawBody), context, screened.verified)
    }
    const { status, headers, body } = screened.answer
    return { statusCode: status, headers: { ...headers }, body, isBase64Encoded: false }
  }
}
