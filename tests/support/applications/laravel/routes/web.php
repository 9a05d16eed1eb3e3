<?php
// Pages for browsers, with a session and protection against forged forms.

use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

Route::get('/', fn () => view('home', ['version' => config('app.version')]))->name('home');

Route::get('/visits', function (Request $request) {
    $request->session()->increment('visits');

    return ['visits' => $request->session()->get('visits')];
});

Route::post('/form', fn (Request $request) => ['text' => $request->input('text')]);

Route::get('/old-home', fn () => redirect()->route('home'));
