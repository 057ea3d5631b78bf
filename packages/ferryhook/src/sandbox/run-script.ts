/** Runs one script on one event, in a runtime of its own and within limits. */
import { type QuickJSContext, type QuickJSHandle, Scope } from 'quickjs-emscripten-core'
import type { Engine, EnginePool } from './engine.ts'
import { MAX_LINE_LENGTH, prelude } from './prelude.ts'
import type { ScriptResult, ScriptFailure, ScriptJob, ScriptOutcome } from './sandbox.ts'

/**
 * The engine calls the interrupt handler every ten thousand steps. Steps are counted rather than
 * timed, so that a script does not fail because the machine is busy.
 */
const MAX_INTERRUPTS = 500
/** Chained promises do not always count as steps. */
const MAX_PENDING_JOBS = 100_000
/** The engine counts its own stack and fails with `stack overflow` long before that of the thread. */
const MAX_STACK_BYTES = 256 * 1024
const MAX_CONSOLE_LINES = 100

export async function runScript(engines: EnginePool, job: ScriptJob): Promise<ScriptResult> {
  const engine = await engines.acquire(job.owner)
  const console: string[] = []
  const world = { scope: new Scope(), engine, console, interrupts: 0 }
  const outcome = withEngineFailures(() => runOn(world, job))
  if (world.interrupts > MAX_INTERRUPTS) return { outcome: timeLimit, console }
  // After a failure the state of the engine is unknown.
  if (outcome.type !== 'failed' && isReusable(world)) engines.release(job.owner, engine)
  return { outcome, console }
}

/** Everything that belongs to one run. */
interface World {
  engine: Engine
  /** Handles to dispose before the engine can be reused. */
  scope: Scope
  console: string[]
  interrupts: number
}

const timeLimit = failed('time_limit', 'The transform runs too long')

/** An error of the engine itself is a failure of the script. */
function withEngineFailures(run: () => ScriptOutcome): ScriptOutcome {
  try {
    return run()
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    if (error instanceof RangeError || message.includes('stack overflow')) {
      return failed('stack_limit', 'The transform recursed too deeply')
    }
    if (message.includes('out of memory')) {
      return failed('memory_limit', 'The transform exceeded the memory limit')
    }
    return failed('crashed', 'The transform crashed the script engine')
  }
}

/** The result exists already, so an engine that cannot dispose its handles is only not reused. */
function isReusable({ engine, scope }: World): boolean {
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
  runtime.setMaxStackSize(MAX_STACK_BYTES)
  runtime.setInterruptHandler(() => {
    world.interrupts += 1
    return world.interrupts > MAX_INTERRUPTS
  })
  const context = scope.manage(runtime.newContext())
  const { call, failure } = loadPrelude(context, world)
  const describe = (error: QuickJSHandle, isLoading = context.false) => {
    const described = context.callFunction(failure, context.undefined, error, isLoading)
    return readOutcome(context, scope.manage(context.unwrapResult(described)))
  }

  const loaded = scope.manage(context.evalCode(job.code, 'transform.js', { type: 'global' }))
  if (loaded.error) return describe(loaded.error, context.true)
  const transform = scope.manage(context.evalCode('transform', 'entry.js', { type: 'global' }))
  if (transform.error || context.typeof(transform.value) !== 'function') {
    return failed('invalid_code', 'The code does not define a function transform(event)')
  }
  if (!job.event) return { type: 'checked' }

  const { body, ...rest } = job.event
  const bodyText = scope.manage(context.newString(body))
  const restText = scope.manage(context.newString(JSON.stringify(rest)))
  const called = context.callFunction(call, context.undefined, transform.value, bodyText, restText)
  const promise = scope.manage(context.unwrapResult(called))
  const jobs = scope.manage(runtime.executePendingJobs(MAX_PENDING_JOBS))
  if (jobs.error) return describe(jobs.error)
  if (runtime.hasPendingJob()) return timeLimit
  const state = context.getPromiseState(promise)
  if (state.type === 'pending') {
    return failed('never_settled', 'The transform returned a promise that never settles')
  }
  if (state.type === 'rejected') return describe(scope.manage(state.error))
  return readOutcome(context, scope.manage(state.value))
}

function loadPrelude(context: QuickJSContext, { scope, engine, console }: World) {
  const write = context.newFunction('write', (line) => {
    if (console.length < MAX_CONSOLE_LINES)
      console.push(context.getString(line).slice(0, MAX_LINE_LENGTH))
    else if (console.length === MAX_CONSOLE_LINES) console.push('… and more')
  })
  const isLarge = context.newFunction('isLarge', () =>
    engine.isLarge() ? context.true : context.false,
  )
  scope.manage(write)
  scope.manage(isLarge)
  const prepare = context.unwrapResult(context.evalCode(prelude, 'prelude.js', { type: 'global' }))
  const parts = context.unwrapResult(
    context.callFunction(scope.manage(prepare), context.undefined, write, isLarge),
  )
  return {
    call: scope.manage(context.getProp(scope.manage(parts), 'call')),
    failure: scope.manage(context.getProp(parts, 'failure')),
  }
}

/** Reads the list of texts that the prelude returns. */
function readOutcome(context: QuickJSContext, list: QuickJSHandle): ScriptOutcome {
  const at = (index: number) =>
    context
      .getProp(list, index)
      .consume((value) =>
        context.typeof(value) === 'string' ? context.getString(value) : undefined,
      )
  const [type, second = '', third] = [at(0), at(1), at(2)]
  if (type === 'failed') return failed(second as ScriptFailure, third ?? '')
  if (type === 'dropped') return { type }
  if (type !== 'json' && type !== 'text') throw new TypeError('The prelude returned no outcome')
  return { type, body: second, ...(third !== undefined && { headers: third }) }
}

function failed(code: ScriptFailure, message: string): ScriptOutcome {
  return { type: 'failed', code, message }
}
