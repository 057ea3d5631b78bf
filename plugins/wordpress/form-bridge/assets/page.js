/* Has the next step of connecting done until there is none, then shows what came of it. */
;(function () {
  var status = document.querySelector('.form-bridge-status[data-work]')
  if (!status) return

  function work() {
    fetch(status.dataset.work, {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'X-WP-Nonce': status.dataset.nonce },
    })
      .then(function (response) {
        return response.ok ? response.json() : { phase: 'unknown' }
      })
      .catch(function () {
        return { phase: 'unknown' }
      })
      .then(function (answer) {
        if (answer.phase === 'idle' || answer.phase === 'failed') location.reload()
        else setTimeout(work, answer.phase === 'unknown' ? 5000 : 1000)
      })
  }

  work()
})()
