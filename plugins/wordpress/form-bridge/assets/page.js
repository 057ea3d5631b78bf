/* Has the next step of connecting done until there is none, then shows what came of it. */
;(() => {
  const status = document.querySelector('.form-bridge-status[data-next-step]')

  /** What the site says about connecting, or nothing if it does not answer now. */
  async function phaseAfterNextStep() {
    try {
      const { nextStep } = status.dataset
      const response = await fetch(nextStep, { method: 'POST', credentials: 'same-origin' })
      return (await response.json()).phase
    } catch {
      return undefined
    }
  }

  async function work() {
    const phase = await phaseAfterNextStep()
    if (phase === 'idle' || phase === 'failed') location.reload()
    else setTimeout(work, phase === undefined ? 5000 : 1000)
  }

  if (status) void work()
})()
