/** One script on one event, in a world of its own and within limits. */
import { type QuickJSContext, type QuickJSHandle, Scope } from 'quickjs-emscripten-core'
import type { Engines } from './engines.ts'
import { longestLine, prelude } from './prelude.ts'
import type { Engine } from './quickjs.ts'
import type { ScriptAnswer, ScriptFailure, ScriptJob, ScriptOutcome } from './script-job.ts'

/**
 * The engine asks after each ten thousand steps whether it may go on. Counted rather than timed, so
 * that a script does not fail because the machine is busy.
 */
const mostInterrupts = 1_000
/** Promises that follow each other do not always count as steps. */
const mostJobs = 100_000
const stackBytes = 256 * 1024
const mostLines = 100

export async function runScript(engines: Engines, job: ScriptJob): Promise<ScriptAnswer> {
  const engine = await engines.take(job.owner)
  const console: string[] = []
  const world = { scope: new Scope(), engine, console, interrupts: 0 }
  const outcome = settled(() => runOn(world, job))
  if (world.interrupts > mostInterrupts) return { outcome: timeLimit, console }
  // After a failure nobody knows in what state the engine is.
  if (outcome.type !== 'failed' && isEmptied(world)) engines.giveBack(job.owner, engine)
  return { outcome, console }
}

/** All that one script has, from its beginning to its end. */
interface World {
  engine: Engine
  /** What has to be given back if the engine is to be used again. */
  scope: Scope
  console: string[]
  interrupts: number
}

const timeLimit = failed('time_limit', 'The transform runs too long')

/** What the engine itself fails with is the script's failure. */
function settled(run: () => ScriptOutcome): ScriptOutcome {
  try {
    return run()
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    if (error instanceof RangeError || message.includes('stack overflow')) {
      return failed('stack_limit', 'The transform or its event is nested too deeply')
    }
    if (message.includes('out of memory')) {
      return failed('memory_limit', 'The transform needs more memory than it may have')
    }
    return failed('crashed', 'The transform broke the engine that ran it')
  }
}

/** The result is there: an engine that cannot let go of what made it is only not used again. */
function isEmptied({ engine, scope }: World): boolean {
  try {
    scope.dispose()
    return !engine.isLarge()
  } catch {
    return false
  }
}

function runOn(world: World, job: ScriptJob): ScriptOutcome {
  const { scope } = world
  const runtime = scope.manage(world.engine.newRuntime())
  runtime.setMaxStackSize(stackBytes)
  runtime.setInterruptHandler(() => {
    world.interrupts += 1
    return world.interrupts > mostInterrupts
  })
  const context = scope.manage(runtime.newContext())
  const { call, failure } = prepared(context, world)
  const describe = (error: QuickJSHandle, isLoading = context.false) => {
    const described = context.callFunction(failure, context.undefined, error, isLoading)
    return read(context, scope.manage(context.unwrapResult(described)))
  }

  const loaded = scope.manage(context.evalCode(job.code, 'transform.js', { type: 'global' }))
  if (loaded.error) return describe(loaded.error, context.true)
  const transform = scope.manage(context.evalCode('transform', 'entry.js', { type: 'global' }))
  if (transform.error || context.typeof(transform.value) !== 'function') {
    return failed('invalid_code', 'The code has no function transform(event)')
  }
  if (!job.event) return { type: 'checked' }

  const { body, ...rest } = job.event
  const bodyText = scope.manage(context.newString(body))
  const restText = scope.manage(context.newString(JSON.stringify(rest)))
  const called = context.callFunction(call, context.undefined, transform.value, bodyText, restText)
  const promise = scope.manage(context.unwrapResult(called))
  const jobs = scope.manage(runtime.executePendingJobs(mostJobs))
  if (jobs.error) return describe(jobs.error)
  if (runtime.hasPendingJob()) return timeLimit
  const state = context.getPromiseState(promise)
  if (state.type === 'pending') {
    return failed('never_settled', 'The transform returned a promise that never settles')
  }
  if (state.type === 'rejected') return describe(scope.manage(state.error))
  return read(context, scope.manage(state.value))
}

function prepared(context: QuickJSContext, { scope, engine, console }: World) {
  const write = context.newFunction('write', (line) => {
    if (console.length < mostLines) console.push(context.getString(line).slice(0, longestLine))
    else if (console.length === mostLines) console.push('… and more')
  })
  const isLarge = context.newFunction('isLarge', () =>
    engine.isLarge() ? context.true : context.false,
  )
  scope.manage(write)
  scope.manage(isLarge)
  const made = context.unwrapResult(context.evalCode(prelude, 'prelude.js', { type: 'global' }))
  const parts = context.unwrapResult(
    context.callFunction(scope.manage(made), context.undefined, write, isLarge),
  )
  return {
    call: scope.manage(context.getProp(scope.manage(parts), 'call')),
    failure: scope.manage(context.getProp(parts, 'failure')),
  }
}

/** A list of texts, as the prelude gives it. */
function read(context: QuickJSContext, list: QuickJSHandle): ScriptOutcome {
  const at = (index: number) =>
    context
      .getProp(list, index)
      .consume((value) =>
        context.typeof(value) === 'string' ? context.getString(value) : undefined,
      )
  const [type, second = '', third] = [at(0), at(1), at(2)]
  if (type === 'failed') return failed(second as ScriptFailure, third ?? '')
  if (type === 'dropped') return { type }
  if (type !== 'json' && type !== 'text') throw new TypeError('The prelude gave no outcome')
  return { type, body: second, ...(third !== undefined && { headers: third }) }
}

function failed(code: ScriptFailure, message: string): ScriptOutcome {
  return { type: 'failed', code, message }
}
