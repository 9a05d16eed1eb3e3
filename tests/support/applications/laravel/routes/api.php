<?php
// What programs ask for.

use App\Jobs\WriteNote;
use App\Models\Note;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\Cache;
use Illuminate\Support\Facades\Crypt;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Log;
use Illuminate\Support\Facades\Route;
use Illuminate\Support\Facades\Storage;
use Symfony\Component\Process\PhpExecutableFinder;
use Symfony\Component\Process\Process;

Route::get('/health', fn () => ['database' => DB::selectOne('select 1 as one')->one]);

Route::get('/notes', fn () => Note::orderBy('id')->pluck('text'));
Route::post('/notes', fn (Request $request) => Note::create($request->only('text')));
Route::post('/jobs', function (Request $request) {
    WriteNote::dispatch($request->input('text'), (int) $request->input('seconds', 0));
});

Route::get('/counter', fn () => ['store' => config('cache.default'), 'count' => Cache::increment('counter')]);

Route::get('/request', fn (Request $request) => [
    'url' => $request->fullUrl(),
    'home' => route('home'),
    'secure' => $request->isSecure(),
    'ip' => $request->ip(),
]);

Route::get('/crypt', fn () => ['opened' => Crypt::decryptString(Crypt::encryptString('text'))]);

Route::get('/environment', fn () => [
    'environment' => app()->environment(),
    'debug' => config('app.debug'),
    'isConfigCached' => app()->configurationIsCached(),
    'areRoutesCached' => app()->routesAreCached(),
    'extensions' => get_loaded_extensions(),
]);

Route::post('/log', fn (Request $request) => Log::log($request->input('level'), $request->input('text')));
Route::get('/failure', fn () => throw new RuntimeException('The page has failed'));

Route::post('/upload', fn (Request $request) => Storage::size($request->file('file')->store('uploads')));
Route::get('/artisan', fn () => ['code' => Artisan::call('notes:add', ['text' => 'by a page'])]);

// A page that starts another PHP, as packages for pictures and assets do.
Route::get('/process', function () {
    $process = new Process([(new PhpExecutableFinder())->find(), base_path('artisan'), '--version']);

    return ['output' => trim($process->mustRun()->getOutput())];
});
