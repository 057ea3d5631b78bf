/**
 * What every operation is: the shape of its request, and a function from request to answer.
 *
 * An operation takes requests of both faces. They differ only in how attribute values are written,
 * so an operation reads those through a `Form` and answers in plain values; `answer` turns an answer
 * into the JSON of the wire.
 */
import type { Clock } from '../clock.ts'
import type { Storage } from '../storage/store.ts'
import type { StructureShape } from '../validation/shapes.ts'
import type { Form } from './form.ts'

export interface Context {
  readonly storage: Storage
  readonly clock: Clock
  /** Part of every ARN. */
  readonly region: string
}

export interface Operation<Input, Output> {
  readonly name: string
  readonly input: StructureShape
  run(context: Context, input: Input, form: Form): Output | Promise<Output>
  /** The answer as JSON; without it an answer holds no attribute values and is JSON already. */
  readonly answer?: (output: Output) => object
  /** The text of that JSON, or its bytes, where making it at once is worth it. */
  readonly text?: (output: Output) => string | Buffer
}
