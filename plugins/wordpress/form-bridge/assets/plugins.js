/* Asks before the plugin is deactivated, which comes before its deletion. */
;(() => {
  const row = document.getElementById('form-bridge-undelivered')
  const link = document.getElementById('deactivate-form-bridge')
  link?.addEventListener('click', (event) => {
    if (row && !window.confirm(row.dataset.confirm)) event.preventDefault()
  })
})()
