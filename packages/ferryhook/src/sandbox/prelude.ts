/**
 * Code that runs in the sandbox before the script. It creates the console, and keeps what is needed
 * to call the transform and to report its outcome. A script can change everything in its own world,
 * but spoils only its own result.
 */
import { MAX_JSON_DEPTH } from '@strongroom/platform/json-depth'

export const MAX_OUTPUT_LENGTH = 262_144
export const MAX_LINE_LENGTH = 1_000

/**
 * A function of `write(line)` and `isLarge()`, which says whether the memory has grown. It returns
 * `call(transform, body, rest)`, a promise of `[type, body, headers]` or `['failed', code, message]`,
 * and `failure(error, isLoading)`, which returns only the latter. Input and output are JSON, because
 * the engine cuts texts at their first null character.
 */
export const prelude = `(write, isLarge) => {
  'use strict'
  const { parse, stringify } = JSON

  // The engine's stringify recurses and compares each level with all above it, so depth is limited.
  const tooDeep = ['failed', 'stack_limit', 'The transform returned a value nested more than ${MAX_JSON_DEPTH} levels deep']
  const toJson = (value) => {
    const parents = []
    return stringify(value, function (_name, inner) {
      while (parents.length > 0 && parents[parents.length - 1] !== this) parents.pop()
      if (typeof inner !== 'object' || inner === null) return inner
      if (parents.length === ${MAX_JSON_DEPTH}) throw tooDeep
      parents.push(inner)
      return inner
    })
  }

  const shown = (value) => {
    try {
      return typeof value === 'string' ? value : toJson(value) ?? String(value)
    } catch (error) {
      return error === tooDeep ? '[nested too deeply]' : String(value)
    }
  }
  const line = (...values) => write(values.map(shown).join(' ').slice(0, ${MAX_LINE_LENGTH}))
  globalThis.console = { log: line, info: line, warn: line, error: line, debug: line }

  const memory = ['failed', 'memory_limit', 'The transform exceeded the memory limit']
  const limits = new Map([
    ['stack overflow', ['failed', 'stack_limit', 'The transform recursed too deeply']],
    ['out of memory', memory],
    ['string too long', memory],
  ])
  const isOfEngine = (error) => error instanceof InternalError || error instanceof SyntaxError
  const failure = (error, isLoading) => {
    try {
      // There was no memory left to create an error.
      if (error === null && isLarge()) return memory
      const limit = isOfEngine(error) && limits.get(error.message)
      if (limit) return limit
      if (!(error instanceof Error)) {
        return ['failed', 'threw', ('The transform threw ' + shown(error)).slice(0, 500)]
      }
      const code = isLoading && error instanceof SyntaxError ? 'invalid_code' : 'threw'
      const place = /transform\\.js:(\\d+)/.exec(error.stack)
      const text = (error.name + ': ' + error.message).slice(0, 500)
      return ['failed', code, place ? text + ' (line ' + place[1] + ')' : text]
    } catch {
      return ['failed', 'threw', 'The transform threw a value that cannot be shown']
    }
  }

  const invalid = (message) => ['failed', 'invalid_output', message]
  const kindOf = (value) => {
    if (value === undefined) return 'nothing'
    return ArrayBuffer.isView(value) ? 'bytes' : 'a ' + typeof value
  }
  const packed = (value, headers) => {
    const isText = typeof value === 'string'
    if (!isText && (typeof value !== 'object' || ArrayBuffer.isView(value))) {
      const wanted = 'return an object, a list or text, or null to drop the event'
      return invalid('The transform returned ' + kindOf(value) + ': ' + wanted)
    }
    let body
    let more
    try {
      body = toJson(value)
      more = toJson(headers)
    } catch (error) {
      if (error === tooDeep) return tooDeep
      if (error instanceof InternalError) throw error
      return invalid(('The transform returned a value that JSON cannot represent: ' + error.message).slice(0, 500))
    }
    if (body === undefined) return invalid('The transform returned a value that JSON cannot represent')
    if ((isText ? value : body).length + (more ?? '').length > ${MAX_OUTPUT_LENGTH}) {
      return ['failed', 'output_limit', 'The transform returned more than ${MAX_OUTPUT_LENGTH} bytes']
    }
    return [isText ? 'text' : 'json', body, more]
  }
  const isEnvelope = (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).sort().join() === 'body,headers'

  const call = async (transform, body, rest) => {
    try {
      const value = await transform({ ...parse(rest), body: parse(body) })
      const isWhole = isEnvelope(value)
      if ((isWhole ? value.body : value) === null) return ['dropped']
      return isWhole ? packed(value.body, value.headers ?? {}) : packed(value)
    } catch (error) {
      return failure(error)
    }
  }
  return { call, failure }
}`
