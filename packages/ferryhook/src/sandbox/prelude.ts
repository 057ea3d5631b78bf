/**
 * What runs in the sandbox before the script does: it makes the console, and keeps what is needed to
 * call the transform and to tell how that ended. A script can change everything in its world, and so
 * spoil nobody's result but its own.
 */

export const longestOutput = 262_144
export const longestLine = 1_000

/**
 * A function of `write(line)` and of `isLarge()`, which tells of the memory. It gives `call(transform, body, rest)`, a promise of `[type, body,
 * headers]` or `['failed', code, message]`, and `failure(error, isLoading)`, the latter alone. What
 * goes in and out is JSON, because the engine's texts end at their first null character.
 */
export const prelude = `(write, isLarge) => {
  'use strict'
  const { parse, stringify } = JSON

  const shown = (value) => {
    try {
      return typeof value === 'string' ? value : stringify(value) ?? String(value)
    } catch {
      return String(value)
    }
  }
  const line = (...values) => write(values.map(shown).join(' ').slice(0, ${longestLine}))
  globalThis.console = { log: line, info: line, warn: line, error: line, debug: line }

  const memory = ['failed', 'memory_limit', 'The transform needs more memory than it may have']
  const limits = new Map([
    ['stack overflow', ['failed', 'stack_limit', 'The transform or its event is nested too deeply']],
    ['out of memory', memory],
    ['string too long', memory],
  ])
  const isOfEngine = (error) => error instanceof InternalError || error instanceof SyntaxError
  const failure = (error, isLoading) => {
    try {
      // There was no room for an error.
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
      return ['failed', 'threw', 'The transform threw something that cannot be shown']
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
      body = stringify(value)
      more = stringify(headers)
    } catch (error) {
      if (error instanceof InternalError) throw error
      return invalid(('The transform returned what JSON cannot hold: ' + error.message).slice(0, 500))
    }
    if (body === undefined) return invalid('The transform returned what JSON cannot hold')
    if ((isText ? value : body).length + (more ?? '').length > ${longestOutput}) {
      return ['failed', 'output_limit', 'The transform returned more than ${longestOutput} bytes']
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
